// What every script of every page uses; no libraries.
"use strict";

const byId = (id) => document.getElementById(id);
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

function made(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

// The button tells which colour scheme it leads to.
function addTheme(button) {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const chosen = () => document.documentElement.style.colorScheme || (dark.matches ? "dark" : "light");
  const name = () => { button.textContent = chosen() === "dark" ? "Light" : "Dark"; };
  button.onclick = () => {
    document.documentElement.style.colorScheme = chosen() === "dark" ? "light" : "dark";
    name();
  };
  dark.addEventListener("change", name);
  name();
}
