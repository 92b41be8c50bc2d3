import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { Context } from '../../../cli/command.js';
import { chooseFirstModel } from '../../../cli/models/first.js';
import { placeCapability } from '../../harness/capability.js';
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
    // The folder holds the model and not the engine, so that its installation ends at once.
    const capabilitySource = join(folder, 'usb');
    const slug = await placeCapability(folder, 'tiny-q8_0');
    await mkdir(capabilitySource);
    await rename(join(folder, 'capabilities', slug), join(capabilitySource, slug));
    world = await openWorld({ config: { catalogue, capabilitySource } });
  });
  after(async () => {
    await world.stop();
    await rm(folder, { recursive: true });
  });
  afterEach(() => forgetModels(world));

  /** What a person is told who answers all that at a terminal; each question waits on its line. */
  const chosen = async (
    baseUrl: string | null,
    answers: string[],
    yes = false,
  ): Promise<string> => {
    const terminal = () => Object.assign(new PassThrough(), { isTTY: true, columns: 80 });
    const streams = { stdin: terminal(), stdout: terminal(), stderr: terminal() };
    let told = '';
    streams.stderr.on('data', (piece: Buffer) => {
      told += piece;
      const answer = /: $/.test(String(piece)) ? answers.shift() : undefined;
      if (answer !== undefined) setImmediate(() => streams.stdin.write(`${answer}\n`));
    });
    const at = { command: 'quickstart', flagOf: (path: string) => path };
    const context = new Context(streams, { server: world.app.url, yes }, at);
    const provider = 'openai-compatible' as const;
    const body = { name: 'house', provider, modelId: 'fake-1' };
    const found = baseUrl === null ? [] : [{ label: 'house', body: { ...body, baseUrl } }];
    await chooseFirstModel(context, found);
    context.close();
    return told;
  };
  const registered = async () =>
    (await world.client.models.list()).models.map(({ name, isDefault }) => ({ name, isDefault }));

  it('is what was found, with enter alone, and answers by default once it was tried', async () => {
    const openai = await startOpenai(says({ text: 'ready' }), says({ text: 'ready' }));
    const told = await chosen(openai.baseUrl, ['']);
    await openai.stop();
    expect(told).to.include(
      [
        '    1 house\n    2 install Tiny here: 1000 B, MIT License',
        '    3 one by API key\n    4 later\n',
      ].join('\n'),
    );
    expect(told)
      .to.include('    Use [1]: ')
      .and.to.match(/Tested in .+: it replied/);
    expect(await registered()).to.equal([
      { name: 'house', isDefault: true },
      { name: 'digest', isDefault: false },
    ]);
  });

  it('is what was found with --yes, which asks nothing', async () => {
    const openai = await startOpenai(says({ text: 'ready' }), says({ text: 'ready' }));
    const told = await chosen(openai.baseUrl, [], true);
    await openai.stop();
    expect(told).to.match(/^ {4}Tested in .+: it replied\n$/);
    expect((await registered())[0]).to.equal({ name: 'house', isDefault: true });
  });

  it('says what ails it where it does not answer, and how to mend that', async () => {
    const openai = await startOpenai(refuses(401));
    const told = await chosen(openai.baseUrl, ['1']);
    await openai.stop();
    expect(told).to.match(
      /It does not reply: .+\n {4}Fix it: adjutant models update house {3}then/,
    );
  });

  it('may be one that is installed, which says what is fetched', async () => {
    const told = await chosen('http://127.0.0.1:1', ['2']);
    // Nothing is fetched in tests: the folder to install from is empty.
    expect(told.replace(/\s+/g, ' ')).to.match(
      /Not installed: .+ has no (llama|tiny-q8_0)\. Export it on a machine with internet access: adjutant capabilities export \1 --to <folder>\./,
    );
    expect(told).to.include('Try again later: adjutant models recommend --install');
    expect(await registered()).to.equal([{ name: 'digest', isDefault: true }]);
  });

  it('is the one that fits this machine with enter alone where nothing was found, not with --yes', async () => {
    const told = await chosen(null, ['']);
    expect(told).to.include('    1 install Tiny here: 1000 B, MIT License\n');
    expect(told).to.match(/Not installed: /);
    expect(await chosen(null, [], true)).to.match(/^ {4}Install one that fits/);
  });

  it('may be left for later', async () => {
    expect(await chosen('http://127.0.0.1:1', ['4'])).to.include(
      '    adjutant models create qwen --provider ollama',
    );
    expect(await registered()).to.equal([{ name: 'digest', isDefault: true }]);
  });
});
