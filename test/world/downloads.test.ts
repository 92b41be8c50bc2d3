import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import * as http from 'node:http';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { downloadFile } from '../../cli/documents/download.js';
import { download } from '../../src/capabilities/download.js';
import { DownloadFailed } from '../../src/capabilities/downloadfailed.js';
import type { NextTry } from '../../src/capabilities/retry.js';
import { networkSettings } from '../../src/config.js';
import { systemClock } from '../../src/kernel/clock.js';
import { createHttp, type Http } from '../../src/kernel/http.js';
import { readCgroup } from '../../src/providers/hardware/cgroup.js';
import { unusedProxyNote } from '../../src/proxy.js';
import { type MirrorHabits, sha256Of, startMirror } from '../capabilities/mirror.js';
import { startCapabilities } from '../capabilities/stage.js';
import { startApp } from '../harness/app.js';
import {
  endlessHeader,
  HOLDING_ENGINE,
  installFakeEngine,
  modelFile,
} from '../harness/llamahome.js';
import { trustAuthority } from '../harness/mail/trust.js';
import { readPage } from '../harness/reader.js';
import { writeScriptedGguf } from '../harness/scriptedgguf.js';
import { openForSuite } from '../harness/suite.js';
import { type Certificate, makeAuthority, opensslMissing } from '../harness/tunnels/tls.js';
import { listen } from '../kernel/listen.js';

export const lab = Lab.script();
const { after, afterEach, before, beforeEach, describe, it } = lab;

const FILE = randomBytes(300_000);
const HALF = 120_000;
const missing = opensslMissing();
const TLS = { skip: missing !== null };

describe('a download', () => {
  let folder: string;
  let to: string;
  let waited: NextTry[];
  let closers: (() => Promise<unknown>)[];
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'world-download-'));
    to = join(folder, 'model.gguf');
    waited = [];
    closers = [];
  });
  afterEach(async () => {
    for (const close of closers) await close();
    await rm(folder, { recursive: true, force: true });
  });

  const mirrorOf = async (habits: MirrorHabits = {}, file = FILE) => {
    const mirror = await startMirror(file, habits);
    closers.push(() => mirror.close());
    return mirror;
  };
  const httpOf = (options: Parameters<typeof createHttp>[0]): Http => {
    const http = createHttp(options);
    closers.push(() => http.close());
    return http;
  };
  const fetchIt = (http: Http, url: string, signal = new AbortController().signal) =>
    download(
      http,
      { url, to, bytes: FILE.length, sha256: sha256Of(FILE) },
      {
        clock: systemClock,
        signal,
        onProgress: () => undefined,
        onRetry: (next) => waited.push(next),
      },
    );
  /** Fetches the rest of a file, the first bytes of which are there. */
  const goOn = async (habits: MirrorHabits, kept = FILE) => {
    const mirror = await mirrorOf(habits);
    await writeFile(to, kept.subarray(0, HALF));
    await fetchIt(httpOf({ allow: [mirror.entry] }), mirror.url);
    expect((await readFile(to)).equals(FILE)).to.be.true();
    expect(await readdir(folder)).to.equal(['model.gguf']);
    return mirror.ranges;
  };

  it('goes on where a part comes under 200, with its place', async () => {
    expect(await goOn({ partStatus: 200 })).to.equal([`bytes=${HALF}-`]);
  });

  it('begins anew where a part is another one than was asked for', async () => {
    expect(await goOn({ shiftedBy: 1000 })).to.equal([`bytes=${HALF}-`, undefined]);
  });

  it('begins anew where a part names no place', async () => {
    expect(await goOn({ isPlaceless: true })).to.equal([`bytes=${HALF}-`, undefined]);
  });

  it('begins anew where the part is of another version, though the server was asked not to', async () => {
    await writeFile(`${to}.etag`, '"old"');
    expect(await goOn({ etag: '"new"' }, randomBytes(FILE.length))).to.equal([
      `bytes=${HALF}-`,
      undefined,
    ]);
  });

  it('begins anew where more is there than the file has', async () => {
    const mirror = await mirrorOf();
    mirror.server.removeAllListeners('request');
    const asked: (string | undefined)[] = [];
    mirror.server.on('request', (request, response) => {
      asked.push(request.headers.range);
      if (request.headers.range) {
        response.writeHead(416, { 'content-range': `bytes */${FILE.length}` }).end();
      } else response.writeHead(200, { 'content-length': FILE.length }).end(FILE);
    });
    await writeFile(to, Buffer.concat([FILE, Buffer.alloc(10)]));
    await fetchIt(httpOf({ allow: [mirror.entry] }), mirror.url);
    expect((await readFile(to)).equals(FILE)).to.be.true();
    expect(asked).to.equal([`bytes=${FILE.length + 10}-`, undefined]);
  });

  const lookupWith = (code: string) => async (): Promise<string[]> => {
    throw Object.assign(new Error(`getaddrinfo ${code} models.example`), { code });
  };

  it('is not tried again where the name of the server does not exist', async () => {
    const http = httpOf({ allow: [], lookup: lookupWith('ENOTFOUND') });
    await writeFile(to, FILE.subarray(0, HALF));
    await expect(fetchIt(http, 'https://models.example/x.gguf')).to.reject(
      DownloadFailed,
      'models.example: the name does not resolve',
    );
    expect(waited).to.equal([]);
    // The name may exist tomorrow.
    expect((await readFile(to)).length).to.equal(HALF);
  });

  it('is tried again, and says so, where the server of names does not answer', async () => {
    const stop = new AbortController();
    const http = httpOf({ allow: [], lookup: lookupWith('EAI_AGAIN') });
    const fetched = download(
      http,
      { url: 'https://models.example/x.gguf', to, bytes: null, sha256: sha256Of(FILE) },
      {
        clock: systemClock,
        signal: stop.signal,
        onProgress: () => undefined,
        onRetry: (next) => {
          waited.push(next);
          stop.abort(new Error('seen'));
        },
      },
    );
    await expect(fetched).to.reject('seen');
    const reason = 'models.example: the name does not resolve';
    expect(waited).to.equal([{ attempt: 2, of: 8, pauseMs: 500, reason }]);
  });

  describe(`over https${missing ? ` (skipped: ${missing})` : ''}`, () => {
    let certificate: Certificate;
    let authority: Awaited<ReturnType<typeof makeAuthority>>;
    before(async () => {
      if (missing) return;
      authority = await makeAuthority();
      certificate = await authority.issue('models');
    });
    after(() => authority?.remove());

    /** A server over TLS that redirects there, or has the file. */
    const startTls = async (leadsTo: string | null) => {
      const files = {
        cert: readFileSync(certificate.certificate),
        key: readFileSync(certificate.key),
      };
      const server = createServer(files, (_request, response) => {
        if (leadsTo !== null) response.writeHead(302, { location: leadsTo }).end();
        else response.writeHead(200, { 'content-length': FILE.length }).end(FILE);
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      closers.push(async () => {
        server.closeAllConnections();
        server.close();
      });
      const address = server.address();
      const port = typeof address === 'object' && address ? address.port : 0;
      return { url: `https://localhost:${port}/x.gguf`, entry: `localhost:${port}` };
    };
    const trusting = () => {
      const distrust = trustAuthority(authority.file);
      closers.push(async () => distrust());
    };

    it('does not follow a redirect to plain http', TLS, async () => {
      trusting();
      const mirror = await mirrorOf();
      const { url, entry } = await startTls(mirror.url);
      await expect(fetchIt(httpOf({ allow: [entry, mirror.entry] }), url)).to.reject(
        DownloadFailed,
        `localhost redirects to an invalid URL: the host redirects from https to plain http: ${mirror.origin}`,
      );
      expect([mirror.got, waited]).to.equal([[], []]);
    });

    it('follows one to https', TLS, async () => {
      trusting();
      const other = await startTls(null);
      const { url, entry } = await startTls(other.url);
      await fetchIt(httpOf({ allow: [entry, other.entry] }), url);
      expect((await readFile(to)).equals(FILE)).to.be.true();
    });

    it(
      'is not tried again where the certificate is not trusted, and keeps what is there',
      TLS,
      async () => {
        const { url, entry } = await startTls(null);
        await writeFile(to, FILE.subarray(0, HALF));
        await expect(fetchIt(httpOf({ allow: [entry] }), url)).to.reject(
          DownloadFailed,
          'localhost: a trusted TLS connection could not be established',
        );
        expect([waited, (await readFile(to)).length]).to.equal([[], HALF]);
      },
    );
  });
});

describe('a download of the command line', () => {
  it('leaves no half file where the connection breaks', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'world-download-'));
    const server = await listen((_, response) => {
      response.writeHead(200, { 'content-length': 10 }).write('half ', () => response.destroy());
    });
    const { signal } = new AbortController();
    const context = { url: server.origin, token: undefined, streams: process, signal };
    const fetched = (name: string) => downloadFile(context, '/file', join(folder, name));
    await expect(fetched('lease.pdf')).to.reject();
    await writeFile(join(folder, 'kept.pdf'), 'before');
    await expect(fetched('kept.pdf')).to.reject();
    expect(await readdir(folder)).to.equal(['kept.pdf']);
    expect(await readFile(join(folder, 'kept.pdf'), 'utf8')).to.equal('before');
    await server.close();
    await rm(folder, { recursive: true });
  });
});

describe('a proxy that the environment names', () => {
  const SENTENCE = 'HTTPS_PROXY is set, but the daemon does not use proxies';

  it('is named by every spelling of its variable, unless no host is to use it', () => {
    const proxy = 'http://user:secret@proxy.example:3128';
    expect(unusedProxyNote({ HTTPS_PROXY: proxy })).to.equal(SENTENCE);
    expect(unusedProxyNote({ https_proxy: proxy })).to.equal(SENTENCE);
    expect(unusedProxyNote({ http_proxy: proxy, ALL_PROXY: proxy })).to.equal(
      'HTTP_PROXY, ALL_PROXY are set, but the daemon does not use proxies',
    );
    expect(unusedProxyNote({ HTTPS_PROXY: proxy, NO_PROXY: '*' })).to.be.null();
    expect(unusedProxyNote({ HTTPS_PROXY: proxy, no_proxy: 'localhost, *' })).to.be.null();
    expect(unusedProxyNote({ HTTPS_PROXY: proxy, NO_PROXY: '*.example.org,[::1]:80' })).to.equal(
      SENTENCE,
    );
    expect(unusedProxyNote({ HTTPS_PROXY: '', NO_PROXY: 'localhost' })).to.be.null();
  });

  it('is passed on to programs that download packages', () => {
    const all = { all_proxy: 'socks5://proxy.example', NO_PROXY: '.example.org', HOME: '/' };
    expect(networkSettings(all)).to.equal({
      all_proxy: 'socks5://proxy.example',
      NO_PROXY: '.example.org',
    });
  });

  it('gets no request of the command line to this machine, even if Node uses it', {
    skip: http.setGlobalProxyFromEnv === undefined,
  }, async () => {
    const proxied: string[] = [];
    const proxy = await listen((request, response) => {
      proxied.push(request.url ?? '');
      response.writeHead(502).end();
    });
    const direct: string[] = [];
    const daemon = await listen((request, response) => {
      direct.push(request.url ?? '');
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"tasks":[]}');
    });
    const bin = fileURLToPath(new URL('../../../bin/adjutant.js', import.meta.url));
    const listed = async (url: string) => {
      const env = {
        ...process.env,
        ...{ NODE_USE_ENV_PROXY: '1', HTTP_PROXY: proxy.origin, NO_PROXY: '.example.org' },
        ...{ ADJUTANT_URL: url, ADJUTANT_TOKEN: 'token' },
      };
      const child = spawn(process.execPath, [bin, 'tasks', 'list'], { env, stdio: 'ignore' });
      await once(child, 'exit');
    };
    try {
      await listed(daemon.origin);
      expect(direct.length).to.be.above(0);
      expect(proxied).to.equal([]);
      await listed('http://daemon.example.net');
      expect(proxied.length).to.be.above(0);
    } finally {
      await Promise.all([proxy.close(), daemon.close()]);
    }
  });

  it('is reported by doctor, and where a name does not resolve', async () => {
    const before = process.env.HTTPS_PROXY;
    process.env.HTTPS_PROXY = 'http://127.0.0.1:9';
    const app = await startApp();
    try {
      const { token } = await app.register('ada');
      const { body } = await app.call('GET', '/api/admin/doctor', { token });
      const found = body.findings.find(({ name }: { name: string }) => name === 'proxy');
      expect([found.status, found.detail]).to.equal([
        'warn',
        `${SENTENCE}. Requests are sent directly, and fail if only the proxy may connect to the internet`,
      ]);
      expect(app.app.report.settingFaults).to.include(SENTENCE);
      const page = await readPage(app, token, { url: 'https://nowhere.invalid/' });
      expect(page.error).to.equal(`nowhere.invalid: the name does not resolve (${SENTENCE})`);
    } finally {
      await app.stop();
      if (before === undefined) delete process.env.HTTPS_PROXY;
      else process.env.HTTPS_PROXY = before;
    }
  });
});

describe('the memory of a container', () => {
  const MIB = 2 ** 20;
  const UNLIMITED = '9223372036854771712\n';
  const system = (files: Record<string, string>) => (path: string) => files[path] ?? null;

  it('is bound by a group above, by version 1', () => {
    const read = system({
      '/proc/self/cgroup': '4:memory:/pods/one/app\n',
      '/sys/fs/cgroup/memory/pods/one/app/memory.limit_in_bytes': UNLIMITED,
      '/sys/fs/cgroup/memory/pods/one/memory.limit_in_bytes': `${768 * MIB}\n`,
      '/sys/fs/cgroup/memory/pods/one/memory.usage_in_bytes': `${100 * MIB}\n`,
    });
    expect(readCgroup(read)).to.include({ memoryBytes: 768 * MIB, memoryFreeBytes: 668 * MIB });
  });

  it('is bound by a group above that the container does not see', () => {
    const read = system({
      '/proc/self/cgroup': '4:memory:/pods/one/app\n',
      '/sys/fs/cgroup/memory/memory.limit_in_bytes': UNLIMITED,
      '/sys/fs/cgroup/memory/memory.usage_in_bytes': `${100 * MIB}\n`,
      '/sys/fs/cgroup/memory/memory.stat': `hierarchical_memory_limit ${768 * MIB}\ntotal_inactive_file ${20 * MIB}\n`,
    });
    expect(readCgroup(read)).to.include({ memoryBytes: 768 * MIB, memoryFreeBytes: 688 * MIB });
  });
});

describe('a model on this machine', () => {
  const stage = openForSuite(lab, () => startCapabilities({ config: { capabilitySource: null } }));

  /** Installs a model whose chat template has no tools. */
  const install = (slug: string, contextLength: number): void => {
    const path = modelFile(stage.home, slug);
    const bytes = writeScriptedGguf(path, ['Hello'], { contextLength });
    const sha256 = sha256Of(readFileSync(path));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(
      join(dirname(path), 'capability.json'),
      JSON.stringify({
        ...{ id: `gguf:${slug}`, kind: 'model', name: slug, version: null, licence: null },
        ...{ source: 'https://example.org', useCases: [] },
        ...{
          files: [{ path: 'model.gguf', bytes, sha256 }],
          installedAt: '2026-11-01T00:00:00.000Z',
        },
      }),
    );
  };
  const add = (name: string, more: object = {}) =>
    stage.ask('POST', '/api/models', { name, provider: 'llama', modelId: 'small', ...more });

  it('is registered as the header of its file says', async () => {
    install('small', 2048);
    const { status, body } = await add('small');
    expect([status, body.contextWindow, body.supports.tools]).to.equal([201, 2048, false]);
    const told = await add('told', { contextWindow: 1024, supports: { tools: true } });
    expect([told.body.contextWindow, told.body.supports.tools]).to.equal([1024, true]);
  });

  it('is registered as the header says where its file was placed by hand', async () => {
    writeScriptedGguf(modelFile(stage.home, 'placed'), ['Hello'], { contextLength: 1024 });
    const { body } = await stage.ask('POST', '/api/models', {
      ...{ name: 'placed', provider: 'llama', modelId: 'placed' },
    });
    expect([body.contextWindow, body.supports.tools]).to.equal([1024, false]);
  });

  it('gets no larger context than its file has, when it is made or changed', async () => {
    install('small', 2048);
    const details = [
      {
        path: 'contextWindow',
        message: 'must be at most 2048 tokens, the limit of the model file',
      },
    ];
    const large = await add('large', { contextWindow: 8192 });
    expect([large.status, large.body.details]).to.equal([400, details]);
    await add('fitting', { contextWindow: 2048 });
    const changed = await stage.ask('PATCH', '/api/models/fitting', { contextWindow: 4096 });
    expect([changed.status, changed.body.details]).to.equal([400, details]);
    const less = await stage.ask('PATCH', '/api/models/fitting', { contextWindow: 512 });
    expect([less.status, less.body.contextWindow]).to.equal([200, 512]);
  });

  it('takes what another file says when it is changed to that', async () => {
    install('small', 2048);
    install('tiny', 512);
    await add('changing');
    const { body } = await stage.ask('PATCH', '/api/models/changing', { modelId: 'tiny' });
    expect(body.contextWindow).to.equal(512);
  });

  it('is checked before each load, so that the engine never reads what is no model', async () => {
    installFakeEngine(stage.home, HOLDING_ENGINE);
    writeFileSync(modelFile(stage.home, 'torn'), endlessHeader());
    const torn = { name: 'torn', provider: 'llama', modelId: 'torn' };
    await stage.ask('POST', '/api/models', torn);
    const { body } = await stage.ask('POST', '/api/models/torn/test');
    expect(body.error).to.equal(
      'torn was not loaded: The file declares 1099511627776 metadata keys, more than the file can contain. Verify an installed model: adjutant capabilities verify torn. Replace a file that you placed there yourself',
    );
    const health = await stage.ask('GET', '/api/models/health');
    const { providers } = health.body;
    const found = providers.find(({ model }: { model: string }) => model === 'torn');
    expect(found.lastError).to.equal(body.error);
    const looped = modelFile(stage.home, 'looped');
    symlinkSync(looped, looped);
    await stage.ask('POST', '/api/models', { ...torn, name: 'looped', modelId: 'looped' });
    expect((await stage.ask('POST', '/api/models/looped/test')).body.error).to.equal(
      'looped was not loaded: its files cannot be read (ELOOP)',
    );
  });

  it('that is damaged is first in the list, and doctor names the remedy once', async () => {
    install('worn', 2048);
    await add('whole');
    await stage.ask('POST', '/api/models', { name: 'worn', provider: 'llama', modelId: 'worn' });
    writeFileSync(join(dirname(modelFile(stage.home, 'worn')), 'damaged.txt'), '');
    const health = await stage.ask('GET', '/health/detailed');
    const part = health.body.parts.find(({ name }: { name: string }) => name === 'models');
    expect(part.detail).to.match(/^worn \(down\), /);
    const { body } = await stage.ask('GET', '/api/admin/doctor');
    const found = body.findings.filter(({ name }: { name: string }) => name === 'model worn');
    expect(found.map(({ detail }: { detail: string }) => detail)).to.equal(['Its file is damaged']);
    expect(found[0].remedy).to.match(/^adjutant capabilities install gguf:worn --url /);
  });

  it('for speech takes the memory that whisper.cpp takes, not that of its file', async () => {
    const { body } = await stage.ask('GET', '/api/capabilities/hardware');
    const needed = (id: string): number =>
      Math.round(body.fit.find(({ model }: { model: string }) => model === id).totalBytes / 1e6);
    expect(needed('whisper:tiny:F16')).to.be.about(273, 5);
    expect(needed('whisper:base:F16')).to.be.about(388, 5);
    expect(needed('whisper:small:F16')).to.be.about(852, 25);
    expect(needed('whisper:tiny:Q5_1')).to.be.about(227, 5);
  });
});
