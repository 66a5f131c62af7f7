/** SHA-256 of the module: another one is not started. */
export default "1917f50b241e7d26b11fde1cfa07f41b2694e5d13b75012dde4d67e391be29fd";
