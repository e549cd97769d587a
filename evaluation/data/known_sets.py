"""Sets of pictures that everybody measures on: where each file comes from and what it must be.

The name of a set stands for exactly these files, wherever they were found: a benchmark on other pictures
under the same name would be no comparison.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A picture of a set: what it is called where it comes from, and its checksum."""

    source: str
    sha256: str


@dataclass(frozen=True, slots=True)
class KnownSet:
    """A published set of pictures."""

    name: str
    title: str
    licence: str
    address: str  # of the folder its files come from
    files: Mapping[str, KnownFile]


def _files(listed: str) -> dict[str, KnownFile]:
    """Files by name from lines of name, name at the source and SHA-256."""
    lines = (line.split() for line in listed.strip().splitlines())
    return {name: KnownFile(source, checksum) for name, source, checksum in lines}


_KODAK = """
kodim01.png 01.png a56e27cbf5f843c048b6af1d6e090760e9c92fadba88b7dee0205918a37523bd
kodim02.png 02.png 4f4b74a79237e311d72cad958237b5f7088d8bce1c82305ebefe1a70e3022dfd
kodim03.png 03.png e25ca1ff2f0c0cb5fdfd5f9b0a0bb21ac4c3de3c84a67f35b09a85d3306249db
kodim04.png 04.png e3b946107c5d3441c022f678d0c3caf1e224d81b1604ba840a4f88e562de61aa
kodim05.png 05.png 10349e963c5c813d327852f82c1795fa4148d69fedffc4c589bee458e3ac3d53
kodim06.png 06.png 363510303b715d4cbc384e1ce227e466b613a09e1b71ae985882bf8e7fbd9b18
kodim07.png 07.png b77d3f006f42414bb242222e0482e750c0fb9e5ee8d4bed2f6f11c5605fe54a4
kodim08.png 08.png ba23983c76b4832ee0e8af0592664756841a16779acd69f792e268fb6d13d6e7
kodim09.png 09.png 6a4361c2fc194feb4edaa9f9a4a0620fb9943e460ac7fdf037fb0f6dd6607a7d
kodim10.png 10.png 9dfb70f5867c29ff9ed6313683f19b3d867849e40fbc0c4c54a4a89df341cf23
kodim11.png 11.png 7936814b58b5387fce2e4e2488b4ec830dadd95fa9520f358ddb30990b50f2b6
kodim12.png 12.png d78c37c2f04f23761ed2367dd77e2db584ddd4c3950833fecf89f199a8126980
kodim13.png 13.png bc34a3ce58dea09dce1704c997171602de90cb34d0c8503a988b77f473d39b08
kodim14.png 14.png 55a94550ff18f3246c4074fd32b77b0c74447c26b6ad274d564d999c0450ba6e
kodim15.png 15.png 7538cbb80cb9103606c48b806eae57d56c885c7f90b9b3be70a41160f9cbb683
kodim16.png 16.png a89c7268ccd4718ba424a99fc4643c572cf692ca6eae887185ceb4e9f11d2e54
kodim17.png 17.png 37afcc89fbdcb76d9518e04b2fc011027e2f4cd14b3b2f83cefd721641a47c5b
kodim18.png 18.png 1a9258c365988961d87a0598725b609139c303ad48a5aad6c503c3b1a87849aa
kodim19.png 19.png b7450b264b1b0a411390d8931b112c27905a992520fc90569dc4b920aa32bbdc
kodim20.png 20.png 3b46c71e3b92a563820ba32936be8330c586c41f938efd94be938386aae4328a
kodim21.png 21.png ac958597c82073f6bb65129c68f72b651db5b9efd82e11547d07350214bc268b
kodim22.png 22.png 1cee58eb1f2d9c7ebb254d208a03c783ce6cf2c4d8c2cf45e235dd23b4ce1b29
kodim23.png 23.png e3111a2fd4da24af15d6459ef9eacfe54106b38e27b4a21821b75c3f5d2d5baf
kodim24.png 24.png 1071c68372cc5a01435c2c225a5cf7d4bb803846ec08bb6b3d6721b156d7cb96
"""

_MCMASTER = """
1.tif 1.tif bcd4625afae223d5d3f584a06ddfd31efa49b6b5109c8b30da641473b570ad52
2.tif 2.tif a10ab6554b87af3ef9b042123345e4ca40201db9a3595ba12de90db91c4768ad
3.tif 3.tif 28cf21bbce11fc4e6b912430ff37ed3e80b4a514bb103c07b9b7ea2ea1e9ffad
4.tif 4.tif 65b3e43209617cd2c359c03cae88a214c237cf29a2d874f904c2e9d69f90dd82
5.tif 5.tif 1e5066dcc3a5ed94d54d3f2976c08a01953b3a29642ddb959def635c0e3ab9f6
6.tif 6.tif 58ba584574f603fa0e174ce2544afb8e9a3f93f174e05462f2737921eafb1d46
7.tif 7.tif df66d86b3e1c33c65084c5607c650de207a062b4f23c8eed331cacb17dd82779
8.tif 8.tif fd873cad65ab0680c393dd30f400506aa09cffb90df2e82589dd128ec2e84487
9.tif 9.tif 8b274e2745ed5249c72f884a190bde06901d88a0f162ec40bb23899e8ef9531a
10.tif 10.tif 9b9c1d3f31d6771fd02164bb00f96bcfef8cb7159288e6ad5a638e0ca5119ec2
11.tif 11.tif 933d28336dcf3a60f306de2c1b30ba31e08679ebd0f45e4c34dec12682d456a4
12.tif 12.tif 802b2fcf6c8f9e1455042ee973966110704b035b24c8fd431babceca56ebdbf2
13.tif 13.tif 944a604d609aab0e90596fa1e75a6f0ce2040fc01dc37b0a536ff685b25f0991
14.tif 14.tif e0825be5f3095ce352cfb90b926e98aa5fddd2618f73910c3b2e23cf2e086860
15.tif 15.tif a0f65704a820f0c9431e81a357d1ad0a8998e93f238f2f81827963286dc8cfe7
16.tif 16.tif 8927c35e1b331ad71479fe5a15624ee06eec7c44e635c3f82d74cc6adffc5602
17.tif 17.tif dae258efd7a6fc34717fa423a784771dda5f5bdd20b29874029077e6d54aebe9
18.tif 18.tif 450fd784e1c042ade47e8efc9be378b85d4ed3efbb3209ee93e5a633a54f24e2
"""

_GITHUB = "https://raw.githubusercontent.com"

KNOWN_SETS: Mapping[str, KnownSet] = {
    known.name: known
    for known in (
        KnownSet(
            "kodak",
            "Kodak PhotoCD PCD0992, 24 pictures of 768×512",
            "released by the Eastman Kodak Company for unrestricted usage",
            f"{_GITHUB}/MohamedBakrAli/Kodak-Lossless-True-Color-Image-Suite/dd2e1105fe8d/PhotoCD_PCD0992",
            _files(_KODAK),
        ),
        KnownSet(
            "mcmaster",
            "McMaster (IMAX) demosaicing set by L. Zhang and X. Wu, 18 pictures of 500×500",
            "none stated, an academic set; use it for research",
            f"{_GITHUB}/cszn/FFDNet/e787f46df2f3/testsets/McMaster",
            _files(_MCMASTER),
        ),
    )
}
