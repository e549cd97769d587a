"""Nonnegative tensor completion over a 0-1 polytope: the mathematics, without images or files.

The method is that of C. X. Bugg, C. Chen and A. Aswani, "Nonnegative Tensor Completion via Integer
Optimization", NeurIPS 2022. Notation of the paper and what it is called here:

==========  =======================  ===============================================================
paper       here                     meaning
==========  =======================  ===============================================================
ψ           entries                  the tensor that is sought; only observed cells are ever held
U           cells                    the unique observed positions, ψ restricted to them is ``point``
λ           radius                   the bound on the norm ‖ψ‖₊ that regularises the fit
θ           factors                  the 0-1 vectors, one per mode, whose outer product is a vertex
S₁, C₁      vertices, polytope       all 0-1 rank-1 tensors, and their convex hull
c           gradient                 the linear objective handed to the oracle
Φ           gap estimate             what the separation oracle is asked to beat
K           accuracy                 how far below Φ a vertex may stay and still be taken
==========  =======================  ===============================================================

`complete` in :mod:`demosaic_ntc.ntc.complete` is the entrance.
"""
