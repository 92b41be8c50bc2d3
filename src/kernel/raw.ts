import type { Readable } from 'node:stream';
import Boom from '@hapi/boom';
import { type Bodies, BodyInterrupted, BodyMemoryFull, BodyTooLong } from './body.js';

const RETRY_AFTER_S = 5;

export const readRawBody = async <T>(
  bodies: Bodies,
  { stream, most }: { stream: Readable; most: number },
  work: (body: Buffer) => Promise<T>,
): Promise<T> => {
  try {
    return await bodies.hold(stream, most, work);
  } catch (error) {
    throw toBodyError(error, most);
  }
};

const toBodyError = (error: unknown, most: number): unknown => {
  if (error instanceof BodyTooLong) {
    return Boom.entityTooLarge(
      `The request body exceeds the limit of ${most} bytes. Send a smaller body`,
    );
  }
  if (error instanceof BodyMemoryFull) {
    const message =
      'Too many request bodies are being received. This one was not stored. Try again later';
    return Boom.serverUnavailable(message, { code: 'bodies_full', retryAfter: RETRY_AFTER_S });
  }
  return error instanceof BodyInterrupted
    ? Boom.badRequest('The request body is incomplete. Send the request again')
    : error;
};
