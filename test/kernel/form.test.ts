import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import Boom from '@hapi/boom';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { FormFile, FormRules } from '../../src/kernel/contract/endpoint.js';
import * as s from '../../src/kernel/contract/schema.js';
import { isUploading, openForm } from '../../src/kernel/form.js';
import { rejectWhenLate } from '../../src/kernel/formdeadlines.js';
import { frozenClock } from '../harness/clock.js';
import { runLoopTurns } from '../harness/turns.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const rules: FormRules = {
  files: 'files',
  mostFiles: 3,
  fileBytes: 100_000,
  bytes: 400_000,
  fields: s.object('Fields', {
    tags: s.optional(s.list(s.text(20)).single()),
    index: s.optional(s.queryFlag()),
  }),
};
const PERIOD_MS = 15_000;
const PERIOD_BYTES = 16 * 1024 * (PERIOD_MS / 1000);
const MAX_MS = 15 * 60_000;

interface Taken {
  filename: string;
  content: string;
  isCut: boolean;
}

interface Reply {
  files: Taken[];
  fields: object;
  message: string;
}

const take = async ({ filename, content, isCut }: FormFile): Promise<Taken> => {
  const taken = await text(content);
  if (taken === 'refuse me') throw Boom.conflict('Not this one');
  return { filename, content: taken, isCut: isCut() };
};

describe('A form', () => {
  let server: Server;
  let url: string;
  let uploading: boolean[] = [];
  const clock = frozenClock();

  before(async () => {
    server = createServer(async (request: IncomingMessage, response) => {
      const form = openForm({ payload: request, raw: { req: request } }, rules, clock);
      uploading = [isUploading(request.socket)];
      const read = form.read(take).then(
        (body) => ({ status: 200, body }),
        (error: Boom.Boom) => ({
          status: error.output.statusCode,
          body: { message: error.message },
        }),
      );
      const { status, body } = await read;
      uploading.push(isUploading(request.socket));
      response.writeHead(status).end(JSON.stringify(body));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    url = `http://127.0.0.1:${port}`;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  const send = async (form: FormData): Promise<{ status: number; body: Reply }> => {
    const response = await fetch(url, { method: 'POST', body: form });
    return { status: response.status, body: (await response.json()) as Reply };
  };
  const formWith = (...files: [name: string, content: string][]): FormData => {
    const form = new FormData();
    for (const [name, content] of files) form.append('files', new Blob([content]), name);
    return form;
  };
  /** Sends bytes as they are, and resolves to all that comes back. */
  const raw = (...pieces: string[]): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1', () =>
        socket.write(pieces.join('')),
      );
      let received = '';
      socket.on('data', (chunk) => {
        received += chunk;
        if (received.includes('\r\n\r\n')) socket.end();
      });
      socket.on('close', () => resolve(received));
      socket.on('error', reject);
    });
  const head = (length: number) =>
    `POST / HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: ${length}\r\n\r\n`;

  it('passes files on in their order, with fields before and after them', async () => {
    const form = formWith(['ä 日本.txt', 'één'], ['b', 'x'.repeat(100_000)]);
    form.append('tags', 'one');
    form.append('tags', 'two');
    form.append('index', 'false');
    const { status, body } = await send(form);
    expect(status).to.equal(200);
    expect(body).to.equal({
      files: [
        { filename: 'ä 日本.txt', content: 'één', isCut: false },
        { filename: 'b', content: 'x'.repeat(100_000), isCut: false },
      ],
      fields: { tags: ['one', 'two'], index: false },
    });
    expect(uploading).to.equal([true, false]);
  });

  it('reads the names that browsers encode', async () => {
    const form = formWith(['"a"\r\nb\nc 100%.txt', 'x']);
    const { body } = await send(form);
    expect(body.files.map(({ filename }) => filename)).to.equal(['"a" b c 100%.txt']);
  });

  it('says of a file that it was too long, and goes on with the next', async () => {
    const { body } = await send(formWith(['long', 'y'.repeat(100_001)], ['short', 'z']));
    expect(body.files.map(({ isCut }) => isCut)).to.equal([true, false]);
    expect(body.files[1]?.content).to.equal('z');
  });

  it('refuses what the rules do not allow, after the last byte', async () => {
    const unknown = formWith(['a', 'b']);
    unknown.append('colour', 'red');
    expect(await send(unknown)).to.equal({
      status: 400,
      body: { message: 'is not allowed' },
    });
    const misplaced = new FormData();
    misplaced.append('attachment', new Blob(['x']), 'x');
    expect((await send(misplaced)).body.message).to.contain('Send files in the field files');
    const many = formWith(['1', 'a'], ['2', 'b'], ['3', 'c'], ['4', 'd']);
    expect((await send(many)).body.message).to.contain('at most 3 files');
    const part = 'y'.repeat(99_000);
    const large = formWith(['1', part], ['2', part], ['3', part]);
    large.append('tags', 'x'.repeat(9000));
    for (let n = 0; n < 20; n++) large.append('tags', 'x'.repeat(9000));
    expect((await send(large)).status).to.equal(413);
    const field = formWith(['1', 'a']);
    field.append('tags', 'x'.repeat(10_001));
    expect((await send(field)).body.message).to.contain('tags must have at most 10000 bytes');
  });

  it('ends with the error of the file that is refused', async () => {
    const { status, body } = await send(formWith(['a', 'refuse me'], ['b', 'x'.repeat(90_000)]));
    expect([status, body.message]).to.equal([409, 'Not this one']);
  });

  it('refuses what is no form', async () => {
    const without = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'multipart/form-data' },
      body: 'x',
    });
    expect(without.status).to.equal(400);
    expect(await raw(head(30), '--b\r\nContent-Disposition: form')).to.match(
      /^HTTP\/1\.1 (400|408)/,
    );
    const text = await fetch(url, { method: 'POST', body: 'x' });
    expect(text.status).to.equal(400);
  });

  it('does not wait for a sender that is too slow', async () => {
    const reply = raw(head(1000), '--b\r\n');
    await clock.waiting(PERIOD_MS);
    clock.forward(PERIOD_MS);
    expect(await reply).to.match(/^HTTP\/1\.1 408/);
  });

  it('does not wait for a sender that never ends', async () => {
    const source = new PassThrough();
    let failure: unknown = null;
    const late = rejectWhenLate(source, clock).catch((error: unknown) => {
      failure = error;
    });
    for (let ms = PERIOD_MS; ms <= MAX_MS; ms += PERIOD_MS) {
      expect(failure).to.be.null();
      source.write(Buffer.alloc(PERIOD_BYTES));
      await runLoopTurns(1);
      clock.forward(PERIOD_MS);
    }
    await late;
    expect(failure).to.be.an.error(
      'The upload was slower than 16 KiB per second or took more than 15 minutes. Send the form again',
    );
    source.destroy();
  });
});
