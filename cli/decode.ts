/** Text in UTF-8, or in UTF-16 as PowerShell writes it. Null for other bytes. */
export const decodeUnicode = (bytes: Buffer): string | null => {
  try {
    return new TextDecoder(encodingOf(bytes), { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
};

/** Without a byte order mark, text that begins with an ASCII character has a zero byte. */
const encodingOf = ([first, second]: Buffer): string => {
  const isLittleEndian = (first === 0xff && second === 0xfe) || (first !== 0 && second === 0);
  if (isLittleEndian) return 'utf-16le';
  return (first === 0xfe && second === 0xff) || first === 0 ? 'utf-16be' : 'utf-8';
};
