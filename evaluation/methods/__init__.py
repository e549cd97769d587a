"""Ways to complete tensors, to demosaic, to inpaint and to denoise: ours, its parts, and peers.

Several of ours are called `ntc`, by what they are given. *Pictures* (`demosaicers`, `inpainters`,
`denoisers`): the product's method `ntc`, groups of patches completed with the least norm. *A group*
(`group_completions`): that completion alone. *A tensor* (`completions`): the solver within the true radius;
`ntc-least`, `ntc-auto` and `ntc-face-N` seek the radius. `ntc-whole` and `ntc-tiled` (`plain_tensors`)
complete a picture as one tensor, without groups.
"""
