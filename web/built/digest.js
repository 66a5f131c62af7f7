/** SHA-256 of the module: another one is not started. */
export default "12d249b0673fbd698192ca63117136a6b6d6af32cb1b4a655bf310413ee1b696";
