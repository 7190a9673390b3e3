package doctor

// executeBits says whether files say that they can be executed.
const executeBits = false
