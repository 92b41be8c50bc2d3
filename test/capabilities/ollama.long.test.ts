import type { ServerResponse } from 'node:http';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createOllamaLibrary, OllamaFailed } from '../../src/capabilities/ollama.js';
import { isOtherLicence, licenceName } from '../../src/capabilities/ollamalicence.js';
import { systemClock } from '../../src/kernel/clock.js';
import { createHttp } from '../../src/kernel/http.js';
import { until } from '../harness/app.js';
import { catalogueModel, writeCatalogue } from '../harness/catalogue.js';
import { type Listening, listen } from '../kernel/listen.js';
import { type CapabilityStage, startCapabilities } from './stage.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

const TOTAL = 1_000_000;
const DIGEST = `sha256:${'cd'.repeat(32)}`;

/** A server with Ollama's calls for its models: `/api/tags`, `/api/pull`, `/api/show`, `/api/delete`. */
const startLibrary = async () => {
  const has = new Set<string>();
  /** The bytes of a model whose pull broke off; Ollama keeps them. */
  let kept = 0;
  const habits = {
    breaksAt: null as number | null,
    refusal: null as string | null,
    /** Lines that are said before all others. */
    says: [] as object[],
    licence: '\n        Apache License\n   Version 2.0, January 2004\n',
    /** It never answers a request to remove a model. */
    keepsSilent: false,
  };
  const pull = (response: ServerResponse, model: string): void => {
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    const say = (line: object) => response.write(`${JSON.stringify(line)}\n`);
    say({ status: 'pulling manifest' });
    for (const line of habits.says) say(line);
    if (habits.refusal) {
      say({ error: habits.refusal });
      return void response.end();
    }
    const layer = { digest: DIGEST, total: TOTAL };
    const steps = [0.1, 0.37, 0.7, 1].map((part) => part * TOTAL).filter((at) => at > kept);
    for (const completed of steps) {
      kept = completed;
      const line = { status: `pulling ${DIGEST.slice(7, 19)}`, ...layer, completed };
      if (habits.breaksAt !== null && completed >= habits.breaksAt) {
        habits.breaksAt = null;
        response.write(`${JSON.stringify(line)}\n`, () => response.destroy());
        return;
      }
      say(line);
    }
    for (const status of ['verifying sha256 digest', 'writing manifest', 'success'])
      say({ status });
    has.add(model);
    response.end();
  };
  const server: Listening = await listen((request, response) => {
    const { path = '', body = '' } = server.got.at(-1) ?? {};
    const { model = '' } = body === '' ? {} : JSON.parse(body);
    if (path === '/api/tags') {
      const models = [...has].map((name) => ({ name, size: TOTAL }));
      response.end(JSON.stringify({ models }));
    } else if (path === '/api/pull') pull(response, model);
    else if (path === '/api/show') response.end(JSON.stringify({ license: habits.licence }));
    else if (path === '/api/delete' && request.method === 'DELETE') {
      if (habits.keepsSilent) return;
      response.writeHead(has.delete(model) ? 200 : 404).end();
    } else response.writeHead(404).end();
  });
  return { ...server, has, habits };
};

describe('a model of Ollama', () => {
  let stage: CapabilityStage;
  let library: Awaited<ReturnType<typeof startLibrary>>;
  beforeEach(async () => {
    library = await startLibrary();
    stage = await startCapabilities({});
    const model = { provider: 'ollama', modelId: 'other:1b', baseUrl: library.origin };
    await stage.ask('POST', '/api/models', { name: 'other', ...model });
  });
  afterEach(async () => {
    await stage.stop();
    await library.close();
  });

  const pulls = () => library.got.filter(({ path }) => path === '/api/pull');

  it('is pulled with its progress, goes on after a break at 37 %, and is registered', async () => {
    library.habits.breaksAt = 0.37 * TOTAL;
    const operation = await stage.install({ id: 'ollama:tiny:1b', useCase: 'chat' });
    expect([operation.status, operation.error]).to.equal(['completed', null]);
    expect(operation.progress).to.include({ done: TOTAL, total: TOTAL, unit: 'bytes' });
    expect(pulls().map(({ body }) => JSON.parse(body))).to.equal([
      { model: 'tiny:1b', stream: true },
      { model: 'tiny:1b', stream: true },
    ]);
    expect(operation.result).to.equal({
      ...{ id: 'ollama-tiny-1b', model: 'ollama-tiny-1b' },
      licence: 'Apache License',
    });
    const { body } = await stage.ask('GET', '/api/models/ollama-tiny-1b');
    expect(body).to.include({ provider: 'ollama', modelId: 'tiny:1b', baseUrl: library.origin });
    expect(await stage.listed('ollama-tiny-1b')).to.include({
      status: 'available',
      usedBy: ['models/ollama-tiny-1b'],
    });
    const again = await stage.ask('POST', '/api/capabilities/install', { id: 'ollama:tiny:1b' });
    expect([again.status, again.body.code]).to.equal([409, 'installed']);
  });

  it('shows no key that stands in an error of Ollama', async () => {
    library.habits.refusal = 'auth Bearer sk-ant-abcdefghijklmnop0123456789 failed';
    const { error } = await stage.install({ id: 'ollama:tiny:1b' });
    expect(error).to.contain('auth ').and.contain(' failed');
    expect(error).to.not.contain('abcdefghijklmnop');
  });

  it('of more files than any model has ends with that', async () => {
    library.habits.says = Array.from({ length: 600 }, (_, at) => ({
      ...{ status: 'pulling', digest: String(at), total: 1, completed: 1 },
    }));
    const operation = await stage.install({ id: 'ollama:tiny:1b' });
    expect(operation.error).to.equal(
      'Ollama reports more than 512 files for the model. Choose another model',
    );
  });

  it('has progress in whole bytes, and a line of it has an end', async () => {
    const sizes = [
      { total: 1e300, completed: 1 },
      { total: -5, completed: -7 },
      { total: 100.5, completed: 3.25 },
      { total: 100, completed: -3 },
      { total: 100, completed: 500 },
    ];
    library.habits.says = sizes.map((size, at) => ({
      status: 'pulling',
      digest: `${at}`,
      ...size,
    }));
    const operation = await stage.install({ id: 'ollama:tiny:1b' });
    const whole = { done: TOTAL + 100, total: TOTAL + 200 };
    expect(operation.error).to.be.null();
    expect(operation.progress).to.include(whole);
    library.habits.says = [{ status: 'x'.repeat(20_000) }];
    const long = await stage.install({ id: 'ollama:long:1b' });
    expect(long.error).to.equal('Ollama sent an invalid reply: a line is too long. Update Ollama');
  });

  it('that the library does not have ends with a sentence', async () => {
    library.habits.refusal = 'pull model manifest: file does not exist';
    const operation = await stage.install({ id: 'ollama:nothing' });
    expect([operation.status, operation.error]).to.equal([
      'failed',
      'The Ollama library has no model nothing',
    ]);
    expect(pulls().length).to.equal(1);
  });

  const catalogued = async (licence: object, file: object = {}) => {
    const given = {
      id: 'x',
      name: 'Apache License 2.0',
      url: 'https://example.org/x',
      mustAccept: false,
      ...licence,
    };
    const model = catalogueModel({ ollama: 'tiny:1b', licence: given }, file);
    await stage.restart({ catalogue: await writeCatalogue(stage.home, [model]) });
  };

  it('that came with another licence than was shown is removed again', async () => {
    await catalogued({});
    library.habits.licence = 'Secret Weights Licence\n\nYou may look at them.';
    const other = await stage.install({ id: 'ollama:tiny:1b', useCase: 'chat' });
    expect([other.status, other.error, [...library.has]]).to.equal([
      'failed',
      'The licence of tiny:1b is “Secret Weights Licence”, but the catalogue shows Apache License 2.0. The model was removed. To accept the licence “Secret Weights Licence”, run: adjutant capabilities install ollama:tiny:1b --accept-licence',
      [],
    ]);
    const models = (await stage.ask('GET', '/api/models')).body.models;
    expect(models.map(({ name }: { name: string }) => name)).to.not.include('ollama-tiny-1b');
    const agreed = await stage.install({ id: 'ollama:tiny:1b', acceptLicence: true });
    expect([agreed.status, agreed.result.licence]).to.equal([
      'completed',
      'Secret Weights Licence',
    ]);
    expect(agreed.progress.note).to.equal(
      'ollama-tiny-1b is installed, licence: Secret Weights Licence',
    );
  });

  it('whose own terms were agreed to is no model with others', async () => {
    await catalogued({ name: 'Gemma Terms of Use', mustAccept: true });
    const other = await stage.install({ id: 'ollama:tiny:1b', acceptLicence: true });
    expect([other.status, [...library.has]]).to.equal(['failed', []]);
    expect(other.error).to.contain(
      'To accept the licence “Apache License”, run: ollama pull tiny:1b',
    );
    library.has.add('tiny:1b');
    const own = await stage.install({
      ...{ id: 'ollama:tiny:1b', acceptLicence: true, useCase: 'chat' },
    });
    expect([own.status, [...library.has]]).to.equal(['completed', ['tiny:1b']]);
  });

  it('is another by a licence of which no word stands in the head of its text', () => {
    const [apache, mit, gemma] = ['Apache License 2.0', 'MIT License', 'Gemma Terms of Use'];
    const texts = {
      apache: '\n   Apache License\n  Version 2.0, January 2004',
      mit: 'Copyright (c) Some\n\nPermission is hereby granted, free of\ncharge, to any person',
      gemma: 'Gemma Terms of Use\nLast modified: February 21, 2024',
    };
    const found = [apache, mit, gemma].map((name) =>
      Object.values(texts).map((text) => isOtherLicence(name, text)),
    );
    expect(found).to.equal([
      [false, true, true],
      [true, false, true],
      [true, true, false],
    ]);
    expect(isOtherLicence(apache, ' \n')).to.be.false();
    expect(licenceName('\n  Apache   License\nVersion 2')).to.equal('Apache License');
  });

  it('is pulled where there is room on the disk of an Ollama of this machine', async () => {
    const before = process.env.OLLAMA_MODELS;
    process.env.OLLAMA_MODELS = stage.home;
    try {
      await catalogued({}, { bytes: 2 ** 50 });
      const full = await stage.install({ id: 'ollama:tiny:1b' });
      expect(full.error).to.match(/^Not enough disk space: 1073741824 MiB required/);
      expect(pulls()).to.equal([]);
      process.env.OLLAMA_MODELS = `${stage.home}/none`;
      await catalogued({}, { bytes: 2 ** 50 });
      library.habits.breaksAt = 0.37 * TOTAL;
      const { body } = await stage.ask('POST', '/api/capabilities/install', {
        id: 'ollama:tiny:1b',
      });
      const { progress } = await until(
        async () => (await stage.ask('GET', `/api/operations/${body.id}`)).body,
        (operation) => operation.progress.retry !== undefined,
      );
      expect(progress.note).to.equal('pulling cdcdcdcdcdcd; free disk space of Ollama unknown');
      expect((await stage.ended(body.id)).status).to.equal('completed');
    } finally {
      if (before === undefined) delete process.env.OLLAMA_MODELS;
      else process.env.OLLAMA_MODELS = before;
    }
  });

  it('is not waited for where Ollama does not answer its removal', async () => {
    library.habits.keepsSilent = true;
    const http = createHttp({ allow: [] });
    const { remove } = createOllamaLibrary(http, {
      ...{ address: () => `${library.origin}/v1`, folders: [], shortMs: 100, clock: systemClock },
    });
    await expect(remove('tiny:1b', new AbortController().signal)).to.reject(
      OllamaFailed,
      `DELETE /api/delete failed at Ollama on ${library.origin}/v1: no response within 0.1 s. Check that Ollama is running there`,
    );
    await http.close();
  });

  it('is removed from Ollama, not while a model uses it', async () => {
    await stage.install({ id: 'ollama:tiny:1b', useCase: 'chat' });
    const used = await stage.ask('DELETE', '/api/capabilities/ollama-tiny-1b');
    expect([used.status, used.body.code, used.body.details]).to.equal([
      409,
      'in_use',
      [{ path: 'usedBy', message: 'models/ollama-tiny-1b' }],
    ]);
    expect([...library.has]).to.equal(['tiny:1b']);
    const forced = await stage.ask('DELETE', '/api/capabilities/ollama-tiny-1b?force=true');
    expect([forced.status, [...library.has]]).to.equal([204, []]);
  });

  it('is one with the tag that Ollama takes where none is given', async () => {
    library.has.add('plain:latest');
    // A list does not wait for an Ollama that takes longer than two seconds, as on a busy machine.
    const plain = await until(() => stage.listed('ollama-plain'), Boolean);
    expect(plain).to.include({ status: 'available' });
    const again = await stage.ask('POST', '/api/capabilities/install', { id: 'ollama:plain' });
    expect([again.status, again.body.code]).to.equal([409, 'installed']);
  });

  it('is not pulled or removed where two have one name here', async () => {
    library.has.add('tiny:1b');
    const namesake = await stage.ask('POST', '/api/capabilities/install', { id: 'ollama:tiny-1b' });
    expect([namesake.status, namesake.body.code]).to.equal([409, 'ambiguous']);
    expect(namesake.body.message).to.contain('same slug as the Ollama model tiny:1b');
    library.has.add('tiny-1b:latest');
    const removed = await stage.ask('DELETE', '/api/capabilities/ollama-tiny-1b');
    expect([removed.status, removed.body.code]).to.equal([409, 'ambiguous']);
    expect(removed.body.message).to.contain('tiny:1b and tiny-1b:latest');
    expect([...library.has].length).to.equal(2);
  });

  it('is not pulled where Ollama does not reply', async () => {
    await library.close();
    const reply = await stage.ask('POST', '/api/capabilities/install', { id: 'ollama:tiny:1b' });
    expect([reply.status, reply.body.code]).to.equal([409, 'no_ollama']);
    expect(reply.body.message).to.contain(`Ollama does not respond at ${library.origin}: `);
    expect(reply.body.message).to.contain('adjutant models create <name> --provider ollama');
    expect((await stage.listed('ollama')).status).to.equal('missing');
    library = await startLibrary();
  });
});
