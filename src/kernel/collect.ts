import type { Body } from './decode.js';
import { HttpFailure, type PartialReply } from './failure.js';

interface OpenReply {
  status: number;
  headers: Record<string, string>;
  body: Body;
}

/** Stops at `enough` bytes. If the body is interrupted, the error contains the received part. */
export const collectBody = async (
  { status, headers, body }: OpenReply,
  enoughBytes = Number.POSITIVE_INFINITY,
): Promise<PartialReply> => {
  const pieces: Uint8Array[] = [];
  let left = enoughBytes;
  const soFar = () => ({ status, headers, body: Buffer.concat(pieces) });
  try {
    for (let piece = await body.read(); piece; piece = left > 0 ? await body.read() : null) {
      pieces.push(piece.subarray(0, left));
      left -= piece.length;
    }
    await body.cancel();
  } catch (error) {
    if (!(error instanceof HttpFailure)) throw error;
    const { kind, host, effectBegan, cause, detail } = error;
    throw new HttpFailure(kind, { host, effectBegan, cause, detail, begun: soFar() });
  }
  return soFar();
};
