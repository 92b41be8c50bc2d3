import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { Context } from '../../../cli/command.js';
import { chooseFirst } from '../../../cli/models/first.js';
import { catalogueModel, writeCatalogue } from '../../harness/catalogue.js';
import { refuses, says, startOpenai } from '../../harness/openai.js';
import { forgetModels, openWorld, type World } from '../world.js';

export const lab = Lab.script();
const { describe, it, before, after, afterEach } = lab;

describe('the first model', () => {
  let world: World;
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'first-'));
    const catalogue = await writeCatalogue(folder, [catalogueModel()]);
    world = await openWorld({ config: { catalogue } });
  });
  after(async () => {
    await world.stop();
    await rm(folder, { recursive: true });
  });
  afterEach(() => forgetModels(world));

  /** What a person is told who answers all that at a terminal; each question waits on its line. */
  const chosen = async (baseUrl: string, answers: string[]): Promise<string> => {
    const terminal = () => Object.assign(new PassThrough(), { isTTY: true, columns: 100 });
    const streams = { stdin: terminal(), stdout: terminal(), stderr: terminal() };
    let told = '';
    streams.stderr.on('data', (piece: Buffer) => {
      told += piece;
      const answer = /: $/.test(String(piece)) ? answers.shift() : undefined;
      if (answer !== undefined) setImmediate(() => streams.stdin.write(`${answer}\n`));
    });
    const at = { command: 'quickstart', flagOf: (path: string) => path };
    const context = new Context(streams, { server: world.app.url }, at);
    const body = {
      name: 'house',
      provider: 'openai-compatible' as const,
      modelId: 'fake-1',
      baseUrl,
    };
    await chooseFirst(context, [{ label: 'house', body }]);
    context.close();
    return told;
  };
  const registered = async () =>
    (await world.client.models.list()).models.map(({ name, isDefault }) => ({ name, isDefault }));

  it('is what was found, with enter alone, and answers by default once it was tried', async () => {
    const openai = await startOpenai(says({ text: 'ready' }));
    const told = await chosen(openai.baseUrl, ['']);
    await openai.stop();
    expect(told).to.include(
      'Use   1 house  2 one by its API key  3 install Tiny here, 1.0 kB  4 later [1]: ',
    );
    expect(told).to.match(/Tested in .+: it answered/);
    expect(await registered()).to.equal([
      { name: 'house', isDefault: true },
      { name: 'digest', isDefault: false },
    ]);
  });

  it('says what ails it where it does not answer, and how to mend that', async () => {
    const openai = await startOpenai(refuses(401));
    const told = await chosen(openai.baseUrl, ['1']);
    await openai.stop();
    expect(told).to.match(
      /It does not answer: .+\n {4}Mend it: adjutant models update house {3}then/,
    );
  });

  it('may be one that is installed, which says what is fetched', async () => {
    const told = await chosen('http://127.0.0.1:1', ['3']);
    // Nothing is fetched in tests: the folder to install from is empty.
    expect(told).to.match(/Not installed: .+ has no (llama|tiny-q8_0)\n/);
    expect(told).to.include('Again, later: adjutant models recommend --install');
    expect(await registered()).to.equal([{ name: 'digest', isDefault: true }]);
  });

  it('may be left for later', async () => {
    expect(await chosen('http://127.0.0.1:1', ['4'])).to.include('Then: adjutant models create');
    expect(await registered()).to.equal([{ name: 'digest', isDefault: true }]);
  });
});
