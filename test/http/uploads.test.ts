import { mkdir, readdir, readlink } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { mountTmpfs, whyNoMount } from '../faults/mount.js';
import { startApp, type TestApp, until } from '../harness/app.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

/** The endpoints that take files, each with a file that it would keep. */
const UPLOADS = [
  {
    path: '/api/voice/transcribe?wait=0',
    field: 'audio',
    content: Buffer.concat([Buffer.from('RIFF\0\0\0\0WAVEfmt '), Buffer.alloc(300_000, 1)]),
  },
  {
    path: '/api/documents/upload',
    field: 'files',
    content: Buffer.alloc(300_000, 'some words '),
  },
];
/** The folders of the home in which files that arrive, and those that were kept, are. */
const FOLDERS = ['voice', 'documents', 'scratch'];
const ENDED = '--b--\r\n';

/** The uploads of one user that may arrive at once, and attempts that are more. */
const MOST = 4;
const ATTEMPTS = 12;

const fileHead = (field: string): string =>
  `--b\r\nContent-Disposition: form-data; name="${field}"; filename="a.wav"\r\n\r\n`;

const fieldPart = (name: string, value: string): string =>
  `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;

describe('an upload', () => {
  let app: TestApp;
  let token: string;
  before(async () => {
    app = await startApp();
    ({ token } = await app.register('ada'));
  });
  after(() => app?.stop());

  /** Lists the files in these folders, and the descriptors that are open on them. */
  const left = async (): Promise<string[]> => {
    const roots = FOLDERS.map((name) => join(app.home, name));
    const files = await Promise.all(
      roots.map(async (root) => {
        const found = await readdir(root, { recursive: true, withFileTypes: true }).catch(() => []);
        return found.filter((one) => one.isFile()).map(({ name }) => join(root, name));
      }),
    );
    const numbers = await readdir('/proc/self/fd');
    const open = await Promise.all(
      numbers.map((number) => readlink(join('/proc/self/fd', number)).catch(() => '')),
    );
    return [...files.flat(), ...open.filter((path) => roots.some((root) => path.startsWith(root)))];
  };
  const leftInTheEnd = () => until(left, (all) => all.length === 0);

  const send = async (path: string, ...parts: (string | Buffer)[]): Promise<number> => {
    const response = await fetch(`${app.url}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'multipart/form-data; boundary=b',
      },
      body: Buffer.concat(parts.map((part) => Buffer.from(part))),
    });
    await response.arrayBuffer();
    return response.status;
  };

  /** Sends the beginning of a form, and resolves once so much of it lies there. */
  const begin = async (path: string, parts: (string | Buffer)[], most = 0): Promise<Socket> => {
    const { hostname, port } = new URL(app.url);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${token}\r\n` +
        'Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 10000000\r\n\r\n',
    );
    for (const part of parts) socket.write(part);
    await until(left, (all) => all.length > most);
    return socket;
  };

  for (const { path, field, content } of UPLOADS) {
    it(`leaves nothing at ${path} if it is refused after its file`, async () => {
      const file = [fileHead(field), content, '\r\n'];
      const refused: (string | Buffer)[][] = [
        [...file, fieldPart('nope', 'x'), ENDED],
        [...file, fieldPart('language', 'x'.repeat(20_000)), ENDED],
        [...file, fieldPart('language', 'x'.repeat(5000)), ENDED],
        [...file, fileHead('evil'), content, '\r\n', ENDED],
        [...file, fileHead('evil'), content.subarray(0, 100), '\r\n', fieldPart('x', ''), ENDED],
        [fileHead(field), content],
        [...file],
      ];
      for (const parts of refused) {
        expect(await send(path, ...parts)).to.equal(400);
        expect(await leftInTheEnd()).to.equal([]);
      }
    });

    it(`leaves nothing at ${path} if its sender goes away`, async () => {
      const field2 = '--b\r\nContent-Disposition: form-data; name="language"\r\n\r\ne';
      for (let n = 0; n < ATTEMPTS; n++) {
        const parts = n % 2 === 0 ? [content] : [content, '\r\n', field2];
        (await begin(path, [fileHead(field), ...parts])).destroy();
        expect(await leftInTheEnd()).to.equal([]);
      }
    });

    it(`holds up no others at ${path} once its sender has gone away`, async () => {
      const file = [fileHead(field), content];
      const sockets: Socket[] = [];
      for (let n = 0; n < MOST; n++) sockets.push(await begin(path, file, (await left()).length));
      expect(await send(path, ...file, '\r\n', ENDED)).to.equal(429);
      for (const socket of sockets) socket.destroy();
      expect(await leftInTheEnd()).to.equal([]);
      // Its file is gone a moment before its place is free.
      const status = await until(
        () => send(path, ...file, '\r\n', fieldPart('nope', ''), ENDED),
        (answered) => answered !== 429,
      );
      expect(status).to.equal(400);
      expect(await leftInTheEnd()).to.equal([]);
    });
  }

  const why = whyNoMount();
  const title = `leaves nothing on a full disk${why === null ? '' : ` (skipped: ${why})`}`;
  it(title, { skip: why !== null }, async () => {
    for (const { path, field, content } of UPLOADS) {
      const folder = join(app.home, field === 'audio' ? 'voice' : 'scratch');
      await mkdir(folder, { recursive: true });
      const unmount = mountTmpfs(folder, 1);
      try {
        const large = Buffer.concat(Array.from({ length: 10 }, () => content));
        expect(await send(path, fileHead(field), large, '\r\n', ENDED)).to.equal(507);
        expect(await leftInTheEnd()).to.equal([]);
      } finally {
        unmount();
      }
    }
  });

  it('is not kept where a second file of it is refused', async () => {
    const file = [fileHead('audio'), UPLOADS[0]?.content ?? '', '\r\n'];
    expect(await send('/api/voice/transcribe?wait=0', ...file, ...file, ENDED)).to.equal(400);
    expect(await leftInTheEnd()).to.equal([]);
  });
});
