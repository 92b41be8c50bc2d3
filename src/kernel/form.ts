import type { IncomingMessage } from 'node:http';
import { type Duplex, Readable } from 'node:stream';
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy';
import Boom from '@hapi/boom';
import Joi from 'joi';
import { type Clock, systemClock } from './clock.js';
import type { FormBody, FormFile, FormRules } from './contract/endpoint.js';
import { errorReason } from './failure.js';
import { rejectWhenLate, streamClosed } from './formdeadlines.js';
import { faultsMessage } from './problem.js';

export const MULTIPART = 'multipart/form-data';
const JSON_TYPE = 'application/json';

const MAX_FIELDS = 100;
const FIELD_BYTES = 10_000;

const uploading = new WeakSet<Duplex>();

export const whileUploading = async <T>(socket: Duplex, work: () => Promise<T>): Promise<T> => {
  uploading.add(socket);
  try {
    return await work();
  } finally {
    uploading.delete(socket);
  }
};

export const isUploading = (socket: Duplex): boolean => uploading.has(socket);

export const unsupportedType = (contentType: unknown, form: FormRules | undefined): Boom.Boom => {
  const wanted = form ? `${MULTIPART}${form.jsonBytes ? ` or ${JSON_TYPE}` : ''}` : JSON_TYPE;
  const sent = String(contentType ?? 'an empty content type');
  const isBare = form !== undefined && sent.startsWith(MULTIPART);
  return Boom.unsupportedMediaType(
    isBare ? `Send ${MULTIPART} with a boundary parameter` : `Send ${wanted}, not ${sent}`,
  );
};

export interface FormRequest {
  payload: unknown;
  raw: { req: IncomingMessage };
}

export const openForm = (
  { payload: source, raw: { req } }: FormRequest,
  rules: FormRules,
  clock: Clock = systemClock,
): FormBody<unknown> => {
  if (!(source instanceof Readable)) throw new Error('The form body must be a stream');
  uploading.add(req.socket);
  return {
    read: (take, undo) =>
      whileUploading(req.socket, () =>
        readForm({ source, headers: req.headers, rules, clock }, { take, undo }),
      ),
  };
};

interface FormSource {
  source: Readable;
  headers: IncomingMessage['headers'];
  rules: FormRules;
  clock: Clock;
}

interface FormTaker<T> {
  take(file: FormFile): Promise<T>;
  undo?: ((taken: T) => Promise<void>) | undefined;
}

/**
 * After an error the rest is read and dropped, so that the client receives the reply; after a
 * deadline the connection is closed. Rejects once every started file has ended and results are
 * undone.
 */
const readForm = async <T>(
  { source, headers, rules, clock }: FormSource,
  taker: FormTaker<T>,
): Promise<{ files: T[]; fields: unknown }> => {
  const parser = createFormParser(headers, rules);
  const parts = collect(parser, rules, taker);
  const arrival = pump(source, parser, { rules, clock });
  try {
    await Promise.race([arrival.ended, parts.failed]);
    const files = await Promise.race([Promise.all(parts.files), parts.failed]);
    return { files, fields: await checkFields(rules, parts.fields) };
  } catch (error) {
    const dropped = arrival.drop();
    await parts.abandon();
    await dropped;
    throw error;
  }
};

const collect = <T>(parser: BusboyInstance, rules: FormRules, { take, undo }: FormTaker<T>) => {
  const contents: BusboyFileStream[] = [];
  const files: Promise<T>[] = [];
  let isRefused = false;
  const fields: Record<string, string | string[]> = Object.create(null);
  let last: Promise<unknown> = Promise.resolve();
  const failed = new Promise<never>((_resolve, rejectWith) => {
    const reject = (error: unknown): void => {
      isRefused = true;
      rejectWith(error);
    };
    parser.on('error', (error: unknown) => reject(toInvalidFormBoom(error)));
    for (const limit of ['partsLimit', 'filesLimit', 'fieldsLimit']) {
      parser.on(limit, () => reject(tooMany(rules)));
    }
    parser.on('field', (name: string, value: string, isNameCut: boolean, isCut: boolean) => {
      if (isNameCut || isCut) reject(fieldError(name, `must have at most ${FIELD_BYTES} bytes`));
      else addField(fields, name, value);
    });
    parser.on('file', (name: string, content: BusboyFileStream, filename?: string) => {
      content.on('error', () => undefined);
      if (name !== rules.files) {
        content.resume();
        reject(fieldError(name, `is not a file field. Send files in the field ${rules.files}`));
        return;
      }
      contents.push(content);
      const taken = last.then(() => {
        if (isRefused) throw incompleteBody();
        return take(toFormFile(content, filename));
      });
      last = taken.catch((error) => {
        content.resume();
        reject(error);
      });
      files.push(taken);
    });
  });
  failed.catch(() => undefined);
  return {
    files,
    fields,
    failed,
    abandon: async (): Promise<void> => {
      isRefused = true;
      for (const content of contents) content.destroy(incompleteBody());
      for (const file of await Promise.allSettled(files)) {
        if (file.status === 'fulfilled') await undo?.(file.value);
      }
    },
  };
};

const createFormParser = (
  headers: FormSource['headers'],
  { mostFiles, fileBytes }: FormRules,
): BusboyInstance => {
  try {
    return new Busboy({
      headers: { ...headers, 'content-type': headers['content-type'] ?? '' },
      limits: {
        files: mostFiles,
        fileSize: fileBytes,
        fields: MAX_FIELDS,
        fieldSize: FIELD_BYTES,
        fieldNameSize: 100,
        headerPairs: 20,
      },
    });
  } catch (error) {
    throw toInvalidFormBoom(error);
  }
};

const toFormFile = (content: BusboyFileStream, filename: string | undefined): FormFile => ({
  filename: decodedName(filename ?? ''),
  content,
  isCut: () => content.truncated === true,
});

/**
 * Reverts the escaping of file names (WHATWG HTML, 4.10.22.8, multipart/form-data). A line break
 * becomes a space.
 */
const decodedName = (name: string): string =>
  name.replace(/%0D%0A|%0[AD]/g, ' ').replaceAll('%22', '"');

const addField = (fields: Record<string, string | string[]>, name: string, value: string): void => {
  const before = fields[name];
  fields[name] = before === undefined ? value : [before, value].flat();
};

export const checkFields = async (
  { fields: schema }: FormRules,
  fields: object,
): Promise<unknown> => {
  const { value, error } = schema.validate(
    { ...fields },
    { abortEarly: false, errors: { label: false } },
  );
  if (!error) return value;
  throw Joi.isError(error) ? Boom.boomify(error, { statusCode: 400 }) : error;
};

const pump = (
  source: Readable,
  parser: BusboyInstance,
  { rules, clock }: Pick<FormSource, 'rules' | 'clock'>,
) => {
  let total = 0;
  let isDropped = false;
  const arrived = new Promise<void>((resolve, reject) => {
    source.on('data', (chunk: Buffer) => {
      total += chunk.length;
      if (isDropped || parser.writableEnded) return;
      if (total > rules.bytes) {
        reject(
          Boom.entityTooLarge(
            `The uploaded form exceeds the limit of ${rules.bytes} bytes. Upload fewer or smaller files`,
          ),
        );
      } else if (!parser.write(chunk)) {
        source.pause();
        parser.once('drain', () => source.resume());
      }
    });
    source.once('end', () => {
      if (!isDropped) parser.end();
    });
    source.once('error', () => reject(incompleteBody()));
    source.once('close', () => {
      if (!source.readableEnded) reject(incompleteBody());
    });
    parser.once('finish', resolve);
  });
  const late = rejectWhenLate(source, clock);
  return {
    ended: Promise.race([arrived, late]),
    drop: async (): Promise<void> => {
      isDropped = true;
      parser.destroy();
      source.resume();
      await Promise.race([streamClosed(source), late.catch(() => undefined)]);
    },
  };
};

const incompleteBody = (): Boom.Boom =>
  Boom.badRequest('The request body is incomplete. Send the request again');

export const fieldError = (path: string, message: string): Boom.Boom =>
  Boom.badRequest(faultsMessage([{ path, message }]), { details: [{ path, message }] });

const tooMany = ({ files, mostFiles }: FormRules): Boom.Boom =>
  fieldError(
    files,
    `must have at most ${mostFiles} files, and the form at most ${MAX_FIELDS} other fields`,
  );

const toInvalidFormBoom = (error: unknown): Boom.Boom =>
  Boom.badRequest(`The body is not a valid multipart form: ${errorReason(error)}`);
