const FINAL_TEXT = 0x81;
const MEDIUM = 126;
const LARGE = 127;

/** Final, unmasked and uncompressed (RFC 6455, 5.2). Built once for all recipients. */
export const textFrame = (text: string): Buffer => {
  const length = Buffer.byteLength(text);
  const head = length < MEDIUM ? 2 : length < 65_536 ? 4 : 10;
  const frame = Buffer.allocUnsafe(head + length);
  frame[0] = FINAL_TEXT;
  if (head === 2) frame[1] = length;
  if (head === 4) {
    frame[1] = MEDIUM;
    frame.writeUInt16BE(length, 2);
  }
  if (head === 10) {
    frame[1] = LARGE;
    frame.writeBigUInt64BE(BigInt(length), 2);
  }
  frame.write(text, head);
  return frame;
};
