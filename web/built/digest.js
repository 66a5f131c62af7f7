/** SHA-256 of the module: another one is not started. */
export default "10a0f7466473f06f25d0aa4a783badf992f8ba09af6178ee947c211b26a0ea32";
