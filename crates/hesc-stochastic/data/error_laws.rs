const LFSR: Constants = [(1.0, 1.0); MEASURED_FACTORS];
const SOBOL: Constants = [(1.0, 1.0); MEASURED_FACTORS];
const PLAIN_SOBOL: Constants = [(1.0, 1.0); MEASURED_FACTORS];
const HALTON: Constants = [(1.0, 1.0); MEASURED_FACTORS];
const HAMMERSLEY: Constants = [(1.0, 1.0); MEASURED_FACTORS];
const LATTICE: Constants = [(1.0, 1.0); MEASURED_FACTORS];
