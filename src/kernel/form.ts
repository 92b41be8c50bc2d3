import type { IncomingMessage } from 'node:http';
import { type Duplex, Readable } from 'node:stream';
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy';
import Boom from '@hapi/boom';
import Joi from 'joi';
import type { FormBody, FormFile, FormRules } from './contract/endpoint.js';
import { sayFaults } from './problem.js';

/** The media type of forms with files. */
export const MULTIPART = 'multipart/form-data';

/** Ours: the most text fields of a form, and the most bytes of one. */
const MOST_FIELDS = 100;
const FIELD_BYTES = 10_000;
/** Ours: the slowest sender that is waited for, in bytes in each period of milliseconds. */
const PERIOD_MS = 15_000;
const LEAST_BYTES = 16 * 1024 * (PERIOD_MS / 1000);
/** Ours: the longest time that a form may take to arrive. */
const LONGEST_MS = 15 * 60_000;

const uploading = new WeakSet<Duplex>();

/** True if a form arrives on the connection, which may take longer than any other request. */
export const isUploading = (socket: Duplex): boolean => uploading.has(socket);

/** Builds the refusal of a body that is neither JSON nor, where `isForm`, a form. */
export const unsupportedType = (contentType: unknown, isForm: boolean): Boom.Boom => {
  const wanted = isForm ? MULTIPART : 'application/json';
  const sent = String(contentType ?? 'without a content-type');
  const isBare = isForm && sent.startsWith(MULTIPART);
  return Boom.unsupportedMediaType(
    isBare ? `Send ${wanted} with its boundary` : `Send ${wanted}, not ${sent}`,
  );
};

/** The deadlines of a form. */
interface FormPace {
  periodMs: number;
  leastBytes: number;
  longestMs: number;
}

const PACE: FormPace = { periodMs: PERIOD_MS, leastBytes: LEAST_BYTES, longestMs: LONGEST_MS };

/** The request of a form: its body as a stream, and the message that it came with. */
interface FormRequest {
  payload: unknown;
  raw: { req: IncomingMessage };
}

/** Returns the form of a request. Its connection has the deadlines of a form from now on. */
export const openForm = (
  { payload: source, raw: { req } }: FormRequest,
  rules: FormRules,
  pace: FormPace = PACE,
): FormBody<unknown> => {
  if (!(source instanceof Readable)) throw new Error('A form must come as a stream');
  uploading.add(req.socket);
  return {
    read: async (take) => {
      try {
        return await readForm({ source, headers: req.headers, rules, pace }, take);
      } finally {
        uploading.delete(req.socket);
      }
    },
  };
};

interface FormSource {
  source: Readable;
  headers: IncomingMessage['headers'];
  rules: FormRules;
  pace: FormPace;
}

/**
 * Reads a form. After an error the rest is read and dropped, so that the client receives the reply;
 * after a deadline of the form the connection is closed.
 */
const readForm = async <T>(
  { source, headers, rules, pace }: FormSource,
  take: (file: FormFile) => Promise<T>,
): Promise<{ files: T[]; fields: unknown }> => {
  const parser = parserOf(headers, rules);
  const parts = collect(parser, rules, take);
  const arrival = pump(source, parser, { rules, pace });
  try {
    await Promise.race([arrival.ended, parts.failed]);
    const files = await Promise.race([Promise.all(parts.files), parts.failed]);
    return { files, fields: await checkFields(rules, parts.fields) };
  } catch (error) {
    await arrival.drop();
    throw error;
  }
};

/** Collects the parts that the parser finds. The next file waits until the last one is taken. */
const collect = <T>(
  parser: BusboyInstance,
  rules: FormRules,
  take: (file: FormFile) => Promise<T>,
) => {
  const files: Promise<T>[] = [];
  const fields: Record<string, string | string[]> = Object.create(null);
  let last: Promise<unknown> = Promise.resolve();
  const failed = new Promise<never>((_resolve, reject) => {
    parser.on('error', (error: unknown) => reject(refusalOf(error)));
    for (const limit of ['partsLimit', 'filesLimit', 'fieldsLimit']) {
      parser.on(limit, () => reject(tooMany(rules)));
    }
    parser.on('field', (name: string, value: string, isNameCut: boolean, isCut: boolean) => {
      if (isNameCut || isCut) reject(faulty(name, `at most ${FIELD_BYTES} bytes`));
      else addField(fields, name, value);
    });
    parser.on('file', (name: string, content: BusboyFileStream, filename?: string) => {
      // A file of a form that is refused ends with an error.
      content.on('error', () => undefined);
      if (name !== rules.files) {
        content.resume();
        reject(faulty(name, `is no file; send files as ${rules.files}`));
        return;
      }
      const taken = last.then(() => take(fileOf(content, filename)));
      last = taken.catch((error) => {
        content.resume();
        reject(error);
      });
      files.push(taken);
    });
  });
  failed.catch(() => undefined);
  return { files, fields, failed };
};

const parserOf = (
  headers: FormSource['headers'],
  { mostFiles, fileBytes }: FormRules,
): BusboyInstance => {
  try {
    return new Busboy({
      headers: { ...headers, 'content-type': headers['content-type'] ?? '' },
      limits: {
        files: mostFiles,
        fileSize: fileBytes,
        fields: MOST_FIELDS,
        fieldSize: FIELD_BYTES,
        fieldNameSize: 100,
        headerPairs: 20,
      },
    });
  } catch (error) {
    throw refusalOf(error);
  }
};

const fileOf = (content: BusboyFileStream, filename: string | undefined): FormFile => ({
  filename: decodedName(filename ?? ''),
  content,
  isCut: () => content.truncated === true,
});

/**
 * Returns a file name without what senders write for the characters that end a name (WHATWG HTML,
 * 4.10.22.8, multipart/form-data). A line break becomes a space.
 */
const decodedName = (name: string): string =>
  name.replace(/%0D%0A|%0[AD]/g, ' ').replaceAll('%22', '"');

const addField = (fields: Record<string, string | string[]>, name: string, value: string): void => {
  const before = fields[name];
  fields[name] = before === undefined ? value : [before, value].flat();
};

const checkFields = async ({ fields: schema }: FormRules, fields: object): Promise<unknown> => {
  const { value, error } = schema.validate(
    { ...fields },
    { abortEarly: false, errors: { label: false } },
  );
  if (!error) return value;
  throw Joi.isError(error) ? Boom.boomify(error, { statusCode: 400 }) : error;
};

/** Passes the source on to the parser until both have ended, or until it is dropped. */
const pump = (
  source: Readable,
  parser: BusboyInstance,
  { rules, pace }: Pick<FormSource, 'rules' | 'pace'>,
) => {
  let total = 0;
  let isDropped = false;
  const arrived = new Promise<void>((resolve, reject) => {
    source.on('data', (chunk: Buffer) => {
      total += chunk.length;
      if (isDropped || parser.writableEnded) return;
      if (total > rules.bytes) {
        reject(Boom.entityTooLarge(`A form may have at most ${rules.bytes} bytes`));
      } else if (!parser.write(chunk)) {
        source.pause();
        parser.once('drain', () => source.resume());
      }
    });
    source.once('end', () => {
      if (!isDropped) parser.end();
    });
    source.once('error', () => reject(brokenOff()));
    source.once('close', () => {
      if (!source.readableEnded) reject(brokenOff());
    });
    parser.once('finish', resolve);
  });
  const late = lateness(source, pace);
  return {
    ended: Promise.race([arrived, late]),
    /** Reads the rest for nothing, as long as it comes within the deadlines. */
    drop: async (): Promise<void> => {
      isDropped = true;
      parser.destroy();
      source.resume();
      await Promise.race([closed(source), late.catch(() => undefined)]);
    },
  };
};

/** Rejects when the source is slower than the deadlines allow; a source that is paused waits for us. */
const lateness = (source: Readable, pace: FormPace): Promise<never> => {
  let bytes = 0;
  source.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  const late = new Promise<never>((_resolve, reject) => {
    const judge = (): void => {
      if (bytes < pace.leastBytes && !source.isPaused()) reject(tooSlow());
      bytes = 0;
    };
    const slow = setInterval(judge, pace.periodMs);
    const long = setTimeout(() => reject(tooSlow()), pace.longestMs);
    void closed(source).then(() => {
      clearInterval(slow);
      clearTimeout(long);
    });
  });
  late.catch(() => undefined);
  return late;
};

const closed = (source: Readable): Promise<void> =>
  new Promise((resolve) => {
    if (source.readableEnded || source.destroyed) resolve();
    for (const event of ['end', 'close', 'error']) source.once(event, () => resolve());
  });

const brokenOff = (): Boom.Boom => Boom.badRequest('The body broke off');

const tooSlow = (): Boom.Boom => {
  const boom = Boom.clientTimeout('The form did not arrive in time');
  boom.output.headers.connection = 'close';
  return boom;
};

const faulty = (path: string, message: string): Boom.Boom =>
  Boom.badRequest(sayFaults([{ path, message }]), { details: [{ path, message }] });

const tooMany = ({ files, mostFiles }: FormRules): Boom.Boom =>
  faulty(files, `at most ${mostFiles} files, and ${MOST_FIELDS} fields beside them`);

const refusalOf = (error: unknown): Boom.Boom =>
  Boom.badRequest(
    `The form is not valid: ${error instanceof Error ? error.message : String(error)}`,
  );
