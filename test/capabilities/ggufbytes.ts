export const STRING = 8;
export const LIST = 9;
export const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};
export const uint64 = (value: bigint | number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
};
export const text = (value: string): Buffer =>
  Buffer.concat([uint64(value.length), Buffer.from(value)]);
export const file = (tensors: bigint | number, keys: bigint | number, ...rest: Buffer[]): Buffer =>
  Buffer.concat([Buffer.from('GGUF'), uint32(3), uint64(tensors), uint64(keys), ...rest]);
export const many = (count: number, of: (at: number) => Buffer): Buffer =>
  Buffer.concat(Array.from({ length: count }, (_, at) => of(at)));
