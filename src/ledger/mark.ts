/** How a ledger file is told from any other SQLite file: by the application's mark in its header. */

/** `WRIT` in ASCII, in the header field that SQLite keeps for such a mark, at byte 68. */
export const ledgerMark = 0x57524954;
