//! Negacyclic rings, number-theoretic transforms, typed polynomial domains and samplers for hesc.
