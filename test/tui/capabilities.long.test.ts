import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { Hardware, ModelFit } from '../../src/client/index.js';
import { systemClock } from '../../src/kernel/clock.js';
import type { Controller } from '../../tui/control/controller.js';
import { dispatchKey } from '../../tui/control/dispatch.js';
import { plainRowText } from '../../tui/parts/row.js';
import { capabilitiesPage } from '../../tui/screens/capabilities/capabilities.js';
import { capabilityPage } from '../../tui/screens/capabilities/capability.js';
import { operationPage } from '../../tui/screens/operations/operation.js';
import { loadAccount } from '../../tui/state/bootstrap.js';
import { type CapabilityItem, capabilitySlug } from '../../tui/state/capabilities.js';
import { openDeskState } from '../../tui/state/deskstate.js';
import { listsAfter } from '../../tui/state/live.js';
import { createNeedHolder } from '../../tui/state/needs.js';
import type { State, StateAction } from '../../tui/state/state.js';
import { topView } from '../../tui/state/ui.js';
import { sha256Of, startMirror } from '../capabilities/mirror.js';
import { placeEngine } from '../capabilities/stage.js';
import { startApp, type TestApp, until } from '../harness/app.js';
import { placeCapability } from '../harness/capability.js';
import { anOperation, known, listLoaded, shown } from './fixtures.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const root: StateAction = { type: 'ui.root', root: 'capabilities' };
const select = (selected: string): StateAction => ({ type: 'ui.looked', change: { selected } });
const user: StateAction = { type: 'session.known', who: { username: 'bob', role: 'user' } };

const anInstall = (over: Partial<NonNullable<CapabilityItem['install']>> = {}) => ({
  ...{ bytes: 2.5 * GIB, licence: 'Apache License 2.0', licenceUrl: null, mustAccept: false },
  ...{ source: 'https://models.example.org/qwen3-4b.gguf', needs: ['llama'], warning: null },
  ...over,
});

const aCapability = (apiId: string, over: Partial<CapabilityItem> = {}): CapabilityItem => ({
  ...{ id: capabilitySlug(apiId), apiId, kind: 'model', name: apiId, status: 'missing' },
  ...{ version: null, path: null, reason: null, usedBy: [], bytes: null },
  ...{ licence: null, install: anInstall() },
  ...over,
});

const GIB = 1024 ** 3;

const aFit = (model: string, over: Partial<ModelFit> = {}): ModelFit => ({
  ...{ model, name: model, useCases: ['chat'], parameters: 4_000_000_000, quantization: 'Q4_K_M' },
  ...{
    contextWindow: 8192,
    weightsBytes: 2.5 * GIB,
    kvCacheBytes: 1.2 * GIB,
    bufferBytes: 0.3 * GIB,
  },
  ...{ totalBytes: 4 * GIB, runsOn: 'cpu', headroomBytes: GIB, licence: 'Apache License 2.0' },
  ...{ tokensPerSecond: { unit: 'written', estimated: 11.6, measured: null }, installed: false },
  ...{ recommended: false, recommendedFor: [], reason: null, why: 'It needs 4.0 GiB.' },
  ...over,
});

const aMachine = (fit: ModelFit[], fault: string | null = null): Hardware & { id: 'hardware' } => ({
  id: 'hardware',
  platform: 'linux',
  cpu: { model: 'Some CPU', cores: 8, arch: 'x64', flags: ['avx2', 'sse'] },
  memory: { totalBytes: 16 * GIB, availableBytes: 12 * GIB, bytesPerSecond: 40 * GIB },
  gpus: [],
  gpuNote: null,
  disk: { freeBytes: 80 * GIB },
  sources: [],
  catalogue: { date: '2026-11-01', source: 'built in', fault },
  fit,
});

const HOUSE = aCapability('house', {
  ...{ name: 'House', status: 'available', path: '/srv/house', install: null },
  usedBy: ['models/qwen'],
});

const NODE = aCapability('node', {
  ...{ kind: 'runtime', name: 'Node.js', status: 'available', version: '20.1', install: null },
});

const ROWS = [
  NODE,
  aCapability('llama', { kind: 'engine', name: 'llama.cpp' }),
  aCapability('gguf:huge:Q8_0', { name: 'Huge' }),
  aCapability('claude', { kind: 'tool', name: 'claude', install: null, reason: 'Not installed' }),
  aCapability('gguf:other:Q8_0', { name: 'Other' }),
  aCapability('gguf:qwen3-4b:Q4_K_M', { name: 'Qwen3 4B' }),
  HOUSE,
];

const unsteady = {
  ...{ unit: 'written' as const, estimated: null },
  measured: { median: 38, spread: 0.4 },
};

const FITS = [
  aFit('gguf:huge:Q8_0', { runsOn: 'none', why: 'It needs 70.0 GiB.' }),
  aFit('gguf:other:Q8_0'),
  aFit('gguf:qwen3-4b:Q4_K_M', { recommendedFor: ['chat', 'tools'] }),
  aFit('house', { tokensPerSecond: unsteady, installed: true }),
];

const loaded = (rows: CapabilityItem[] = ROWS, ...more: StateAction[]): State =>
  known([
    ...listLoaded('capabilities', rows),
    ...listLoaded('hardware', [aMachine(FITS)]),
    root,
    ...more,
  ]);
const running = (over: Partial<Parameters<typeof anOperation>[0]> = {}) =>
  anOperation({
    ...{ kind: 'capabilities.install', title: 'Install Qwen3 4B' },
    resource: { kind: 'capability', id: 'qwen3-4b-q4_k_m' },
    progress: { done: GIB, total: 2.5 * GIB, unit: 'bytes', note: null },
    ...over,
  });

describe('the screen of capabilities', () => {
  it('shows the machine, then what a person looks for first, and what else there is', () => {
    expect(shown(capabilitiesPage.view, loaded(), 80, 40).slice(0, 14)).to.equal([
      'CPU     Some CPU, 8 cores, x64, avx2',
      'Memory  12.0 GiB free of 16.0 GiB, read at 40.0 GiB/s',
      'GPU     none found',
      'Disk    80.0 GiB free',
      'System  linux; model catalogue of 2026-11-01, built in',
      '',
      '  STATE      NAME                  MEMORY  RUNS ON  SPEED           USE',
      '> available  House                4.0 GiB  cpu      38 tok/s ±20 %  used by qwen',
      '  missing    Qwen3 4B             4.0 GiB  cpu      ~12 tok/s       first choic…',
      '  available  Node.js',
      '  missing    Other                4.0 GiB  cpu      ~12 tok/s',
      '  missing    Huge                 4.0 GiB  none     ~12 tok/s',
      '  missing    llama.cpp',
      '  missing    claude',
    ]);
    expect(capabilitiesPage.summary?.(loaded())).to.equal(
      '2 installed or found, 2 more models fit',
    );
  });

  it('has at 120 columns no fewer columns than at 80, and loses no part of a progress', () => {
    const during = aCapability('gguf:qwen3-4b:Q4_K_M', {
      ...{ name: 'Qwen3 4B', status: 'installing', reason: 'It is not installed' },
    });
    const rows = ROWS.map((each) => (each.id === during.id ? during : each));
    const state = loaded(rows, ...listLoaded('operations', [running()]), select(during.id));
    const frame = shown(capabilitiesPage.view, state, 120, 40);
    const heads = (view: string[]) =>
      /STATE.*?(?= │|$)/
        .exec(view.find((line) => line.includes('STATE ')) ?? '')?.[0]
        .split(/ {2,}/);
    const narrow = heads(shown(capabilitiesPage.view, state, 80, 40)) ?? [];
    expect(heads(frame)).to.include(narrow);
    expect(narrow).to.include('SPEED');
    const beside = frame.map((line) => line.split(' │ ')[1] ?? '').join(' ');
    expect(beside.replace(/ +/g, ' ')).to.contain('40 % 1.0 GiB of 2.5 GiB');
    expect(beside).to.not.contain('It is not installed');
  });

  it('says nothing of models that fit while the machine is not known', () => {
    const state = known([...listLoaded('capabilities', ROWS), root]);
    expect(capabilitiesPage.summary?.(state)).to.equal('2 installed or found');
  });

  it('shows the languages that can be installed to a filter, each by its code', () => {
    const spoken = ['ita', 'nld'].map((code) =>
      aCapability(`tesseract:${code}`, {
        kind: 'language',
        name: `Text recognition: ${code}`,
      }),
    );
    const state = loaded([...ROWS, ...spoken]);
    expect(shown(capabilitiesPage.view, state, 80, 40).join('\n')).to.not.contain('ita:');
    expect(capabilitiesPage.summary?.(state)).to.contain(', 2 languages: /language');
    const found = stateAt(state, '', 'language');
    const rows = shown(capabilitiesPage.view, found, 80, 40).slice(7, 9);
    expect(rows.map((line) => line.trimEnd())).to.equal([
      '> missing    ita: text recognition',
      '  missing    nld: text recognition',
    ]);
  });

  it('is whole at 80x24: the machine in two rows, and a catalogue that is not used', () => {
    const machine = aMachine(FITS, 'The catalogue is not valid');
    const state = loaded(ROWS, ...listLoaded('hardware', [machine]));
    const rows = shown(capabilitiesPage.view, state, 80, 19);
    expect(rows.slice(0, 4)).to.equal([
      'CPU     Some CPU, 8 cores, x64, avx2',
      'Memory  12.0 GiB free of 16.0 GiB   Disk 80.0 GiB free   GPU none found',
      'The catalogue is not valid',
      '',
    ]);
    expect(rows.length <= 19).to.be.true();
    expect(rows.every((line) => line.length <= 80)).to.be.true();
  });

  it('says what is read aloud in words, not in signs', () => {
    const cells = capabilitiesPage.cells?.(loaded()) ?? [];
    const speeds = cells.map((each) => each.cells.find(({ head }) => head === 'SPEED')?.text);
    expect(speeds.slice(0, 3)).to.equal([
      '38 tokens written per second, varies by 20 percent',
      '12 tokens written per second, estimated',
      '',
    ]);
  });

  it('says of a model that makes vectors how many tokens it reads', () => {
    const speed = {
      unit: 'read' as const,
      estimated: null,
      measured: { median: 912.4, spread: 0 },
    };
    const machine = aMachine([aFit('house', { tokensPerSecond: speed, useCases: ['embedding'] })]);
    const state = loaded([HOUSE], ...listLoaded('hardware', [machine]));
    const rows = shown(capabilitiesPage.view, state, 80, 19);
    expect(rows.find((line) => line.includes('House'))).to.contain(' 912 tok/s read ');
    const [cells] = capabilitiesPage.cells?.(state) ?? [];
    const said = cells?.cells.find(({ head }) => head === 'SPEED')?.text;
    expect(said).to.equal('912 tokens read per second');
  });

  it('shows all of one in its details, and on a page of its own', () => {
    const state = loaded(ROWS, select('qwen3-4b-q4_k_m'));
    expect(capabilitiesPage.opens?.(state)).to.equal({
      page: 'capability',
      id: 'qwen3-4b-q4_k_m',
    });
    const place = { page: 'capability' as const, id: 'qwen3-4b-q4_k_m' };
    const page = shown(capabilityPage.view, loaded(ROWS, { type: 'ui.opened', place }), 80, 19);
    expect(page).to.equal([
      'Qwen3 4B   missing',
      'model',
      '',
      'Id                gguf:qwen3-4b:Q4_K_M   model',
      'Memory            4.0 GiB: weights 2.5 GiB, cache 1.2 GiB, buffer 307 MiB',
      'Runs on           cpu, with a context of 8192 tokens',
      'Speed             ~12 tok/s',
      'For               chat',
      'First choice for  chat, tools',
      'Why               It needs 4.0 GiB.',
      'Licence           Apache License 2.0',
      'Size              2.5 GiB',
      'Source            https://models.example.org/qwen3-4b.gguf',
      'Needs             llama',
    ]);
    expect(capabilitiesPage.text?.(state, 80)?.map(plainRowText)).to.include(
      'Size              2.5 GiB',
    );
  });

  it('shows in its row how far an installation is, and how the last one failed', () => {
    const over = { error: 'No room', status: 'failed' as const };
    const state = (...rows: ReturnType<typeof running>[]) =>
      loaded(ROWS, ...listLoaded('operations', rows), select('qwen3-4b-q4_k_m'));
    const during = shown(capabilitiesPage.view, state(running()), 80, 40);
    expect(during[8]).to.match(/^> installing 40 % {2}Qwen3 4B/);
    expect(during).to.include('[########············]  40 %  1.0 GiB of 2.5 GiB');
    const acts = capabilitiesPage.acts?.(state(running())) ?? {};
    expect(Object.keys(acts)).to.equal(['stop']);
    expect(capabilitiesPage.related?.(state(running()))).to.include({ root: 'operations' });
    const failed = shown(capabilitiesPage.view, state(running(over)), 80, 40);
    expect(failed).to.include('Last              Install Qwen3 4B: failed: No room');
    expect(failed[8]).to.match(/^> missing {4}Qwen3 4B/);
    // The measurement of a model counts for the capability that the model uses.
    const measured = running({
      kind: 'capabilities.measure',
      resource: { kind: 'model', id: 'qwen' },
      progress: { done: 3, total: 6, unit: 'runs', note: null },
    });
    expect(shown(capabilitiesPage.view, state(measured), 80, 40)[7]).to.match(
      /^ {2}measuring 50 % {2}House/,
    );
  });

  it('reads its lists again when an operation on a capability has ended, and only then', () => {
    expect(listsAfter(running({ status: 'failed' }))).to.include(['capabilities', 'hardware']);
    expect(listsAfter(running())).to.equal([]);
    expect(listsAfter(anOperation({ status: 'completed' }))).to.equal([]);
  });

  it('is where the operation on a capability leads', () => {
    const opened: StateAction = {
      type: 'ui.opened',
      place: { page: 'operation', id: 'operation_01' },
    };
    const state = loaded(ROWS, ...listLoaded('operations', [running()]), opened);
    expect(operationPage.related?.(state)).to.equal({
      ...{ root: 'capabilities', places: [], selected: 'qwen3-4b-q4_k_m' },
    });
  });
});

describe('the acts on a capability', () => {
  const acts = (id: string, rows: CapabilityItem[] = ROWS, ...more: StateAction[]) =>
    capabilitiesPage.acts?.(loaded(rows, select(id), ...more)) ?? {};

  it('ask with size, licence and what comes with it before they install', () => {
    expect(acts('qwen3-4b-q4_k_m').message?.ask).to.equal({
      lines: [
        'Install Qwen3 4B? 2.5 GiB, from models.example.org',
        'Required and installed first: llama.',
        'It is registered as a model for chat.',
        'Licence: Apache License 2.0',
      ],
    });
    expect(acts('huge-q8_0').message?.ask?.lines).to.include('It needs 70.0 GiB.');
    const engine = aCapability('llama', { kind: 'engine', status: 'available', install: null });
    const rest = [...ROWS.filter(({ id }) => id !== 'llama'), engine];
    expect(acts('qwen3-4b-q4_k_m', rest).message?.ask?.lines[1]).to.match(/^It is registered/);
  });

  it('ask for the agreement to a licence of its own, which takes time to read', () => {
    const licenceUrl = 'https://example.org/x';
    const install = anInstall({ licence: 'Terms of X', licenceUrl, mustAccept: true });
    const { message } = acts('x-q8_0', [aCapability('gguf:x:Q8_0', { install })]);
    expect(message?.ask?.lines.slice(-2)).to.equal([
      'Licence: Terms of X, https://example.org/x',
      'The licence has its own terms. y confirms that you accept these terms',
    ]);
    expect(message?.ask?.deadMs).to.equal(700);
    expect(message?.line).to.equal('adjutant capabilities install gguf:x:Q8_0 --accept-licence');
  });

  it('are those that are possible: what ships is neither verified nor deleted', () => {
    expect(Object.keys(acts('node'))).to.equal([]);
    expect(Object.keys(acts('claude'))).to.equal([]);
    expect(Object.keys(acts('house'))).to.equal(['mark', 'check', 'delete']);
    const pulled = { status: 'available' as const, install: null, path: null };
    expect(Object.keys(acts('ollama-a', [aCapability('ollama-a', pulled)]))).to.equal(['delete']);
  });

  it('say what would miss what is deleted', () => {
    expect(acts('house').delete?.refusal).to.equal(
      'Used by models/qwen. To delete it and stop these models: adjutant capabilities delete house --force',
    );
    const free = acts('house', [{ ...HOUSE, usedBy: [] }]).delete;
    expect([free?.refusal, free?.ask?.lines[0]]).to.equal([
      undefined,
      'Delete House from this machine? Nothing uses it.',
    ]);
  });

  it('are for admins, and say so to others', () => {
    for (const act of Object.values(acts('house', ROWS, user))) {
      expect(act?.refusal).to.match(/^Only admins/);
    }
    expect(acts('qwen3-4b-q4_k_m', ROWS, user).message?.refusal).to.match(/^Only admins/);
  });
});

describe('capabilities on a daemon', () => {
  const FILE = Buffer.alloc(400_000, 'speech');
  let home: string;
  let app: TestApp;
  let mirror: Awaited<ReturnType<typeof startMirror>>;
  let ada: string;
  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'desk-'));
    mirror = await startMirror(FILE, { stallsAfter: 100_000 });
    const file = { url: mirror.url, bytes: FILE.length, sha256: sha256Of(FILE) };
    const catalogue = join(home, 'catalogue.json');
    await writeFile(catalogue, JSON.stringify(catalogueOf(file)));
    await placeCapability(home, 'house');
    await placeCapability(home, 'shed');
    await placeEngine(home, 'whisper');
    const config = { egressAllow: [mirror.entry], catalogue, capabilitySource: null };
    app = await startApp({ home, config });
    ada = (await app.register('ada')).token;
    const model = { name: 'mine', provider: 'llama', modelId: 'house' };
    const reply = await app.call('POST', '/api/models', { token: ada, body: model });
    if (reply.status !== 201) throw new Error(reply.text);
  });
  after(async () => {
    mirror.release();
    await app.stop();
    await mirror.close();
    await rm(home, { recursive: true, force: true });
  });

  /** A desk on the screen, with loaded lists and an open socket. */
  const openDesk = async (token: string) => {
    const size = { width: 80, height: 24 };
    const desk = openDeskState({ url: app.url, token, size, clock: systemClock });
    const end = Promise.all([loadAccount(desk.client, desk.store), desk.run()]);
    const { store } = desk;
    const press = (...keys: string[]): void => {
      for (const key of keys) {
        dispatchKey(desk as unknown as Controller, { type: 'key', key, isBurst: false });
      }
    };
    const sees = <T>(look: (state: State) => T, isIt: (seen: T) => boolean) =>
      until(async () => look(store.get()), isIt);
    press('g', 'c');
    const hold = createNeedHolder(desk);
    hold(capabilitiesPage.needs(store.get()));
    await sees(
      ({ session, lists }) =>
        session.link.is === 'live' &&
        session.who !== null &&
        [lists.capabilities, lists.hardware].every(({ loadedAt }) => loadedAt !== null),
      (isReady) => isReady,
    );
    const stateWord = (id: string) => (state: State) =>
      shown(capabilitiesPage.view, stateAt(state, id), 80, 40)
        .find((line) => line.startsWith('>'))
        ?.slice(2);
    const close = async () => {
      desk.close();
      await end;
    };
    return { store, press, sees, close, stateWord, said: ({ ui }: State) => ui.message?.text };
  };

  it('show what is installed, and install something by i and y, as its row shows', async () => {
    const desk = await openDesk(ada);
    expect(topView(desk.store.get().ui).page).to.equal('capabilities');
    const items = capabilitiesPage.items?.(desk.store.get()) ?? [];
    expect(items.map(({ id }) => id)).to.include(['house', 'shed', 'node', 'whisper-tiny-q5_1']);
    desk.store.dispatch(select('whisper-tiny-q5_1'));
    desk.press('i');
    expect(desk.store.get().ui.sheet?.act.ask?.lines[0]).to.match(/^Install Tiny Q5_1\? 391 KiB, /);
    desk.press('y');
    await desk.sees(desk.said, (text) => text?.startsWith('Install Tiny Q5_1: started') === true);
    const word = desk.stateWord('whisper-tiny-q5_1');
    await desk.sees(word, (line) => /^installing \d+ %/.test(line ?? ''));
    mirror.release();
    await desk.sees(word, (line) => line?.startsWith('available') === true);
    expect(Object.keys(capabilitiesPage.acts?.(desk.store.get()) ?? {})).to.equal([
      'check',
      'delete',
    ]);
    desk.press('c');
    await desk.sees(desk.said, (text) => text?.startsWith('Verify the files of') === true);
    await desk.sees(
      ({ lists }) =>
        Object.values(lists.operations.byId).map(({ kind, status }) => `${kind} ${status}`),
      (all) => all.includes('capabilities.verify completed'),
    );
    await desk.close();
  });

  it('are not deleted while something uses them, and else by D and y', async () => {
    const desk = await openDesk(ada);
    desk.store.dispatch(select('house'));
    desk.press('D');
    expect(desk.store.get().ui.sheet).to.be.null();
    expect(desk.said(desk.store.get())).to.match(/^Used by models\/mine/);
    desk.store.dispatch(select('shed'));
    const act = capabilitiesPage.acts?.(desk.store.get()).delete;
    desk.press('D', 'y');
    await desk.sees(desk.said, (text) => text === 'shed is deleted');
    expect(desk.store.get().lists.capabilities.byId.shed).to.be.undefined();
    expect(act).to.exist();
    await desk.close();
  });

  it('are not deleted if they are used since they were listed, and the daemon says by what', async () => {
    await placeCapability(home, 'barn');
    const desk = await openDesk(ada);
    desk.store.dispatch(select('barn'));
    desk.press('D');
    const model = { name: 'late', provider: 'llama', modelId: 'barn' };
    await app.call('POST', '/api/models', { token: ada, body: model });
    desk.press('y');
    await desk.sees(desk.said, (text) => /^409: barn is used by models\/late/.test(text ?? ''));
    await desk.close();
  });

  it('are shown to a user who is no admin, who cannot change them', async () => {
    const { token } = await app.register('bob');
    const desk = await openDesk(token);
    for (const [id, key, filter] of [
      ['house', 'm', ''],
      ['tesseract-ita', 'i', 'ita'],
    ] as const) {
      desk.store.dispatch({ type: 'ui.looked', change: { selected: id, filter } });
      desk.press(key);
      expect(desk.store.get().ui.sheet).to.be.null();
      expect(desk.said(desk.store.get())).to.match(/^Only admins can install/);
    }
    expect(desk.store.get().lists.capabilities.byId.house?.path).to.be.null();
    await desk.close();
  });
});

/** The same state with that row selected. */
const stateAt = (state: State, selected: string, filter = ''): State => {
  const view = { ...topView(state.ui), selected, filter };
  return { ...state, ui: { ...state.ui, stacks: { ...state.ui.stacks, capabilities: [view] } } };
};

/** A catalogue with one model for speech. */
const catalogueOf = (file: object) => ({
  date: '2026-11-01',
  models: [
    {
      ...{ id: 'whisper-tiny', family: 'Tiny', name: 'Tiny', kind: 'speech' },
      ...{ useCases: ['speech'], parameters: 1000, activeParameters: null, architecture: null },
      licence: { id: 'x', name: 'Terms of X', url: 'https://example.org/x', mustAccept: false },
      ...{ contextWindow: 2048, languages: [], tools: false, ollama: null },
      files: [{ quantization: 'Q5_1', ...file }],
    },
  ],
});
