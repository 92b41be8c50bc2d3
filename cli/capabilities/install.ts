import { type Capability, contracts, type Reply } from '../../src/client/index.js';
import { buildColumns } from '../columns.js';
import { type Context, command } from '../command.js';
import { failed } from '../exit.js';
import { requestFields } from '../fields.js';
import { sizeText } from '../operations/counts.js';
import { noteOutcome, noWait, showEnd, showStarted } from '../operations/follow.js';
import { oneLine, safe } from '../text.js';
import { followInstall, modelUsers, registeredModel, slugFromId, startInstall } from './start.js';

const endpoints = await contracts.capabilities();

/** Whether a name is an id, with or without the quantization, or the slug of the capability. */
const isNamed = ({ id }: Pick<Capability, 'id'>, name: string): boolean =>
  id === name || id.startsWith(`${name}:`) || slugFromId(id) === slugFromId(name);

/** Describes the size of the download or copy, with the dependencies. */
export const downloadSizeText = (
  { capabilities, source }: CapabilityList,
  { install }: Capability,
): string => {
  const first = capabilities.filter(
    ({ id, status }) => install?.needs.includes(id) && status !== 'available',
  );
  const needed = first.map(
    ({ id, install: own }) =>
      `, and ${safe(id)} first${own?.bytes ? ` (${sizeText(own.bytes)})` : ''}`,
  );
  const way = source === null ? 'download' : 'copy from the folder';
  const size = install?.bytes ? `${sizeText(install.bytes)} to ${way}` : 'size unknown';
  return size + needed.join('');
};

type CapabilityList = Reply<'capabilities', 'list'>;

const announce = ({ out }: Context, list: CapabilityList, found: Capability): void => {
  const { install } = found;
  if (!install) return;
  const licence = install.licence === null ? 'licence unknown' : safe(install.licence);
  out.note(`${safe(found.name)}: ${downloadSizeText(list, found)}; ${licence}`);
  out.note(`From ${safe(install.source)}`);
};

/** Describes a file that is in no catalogue. */
const announceFile = ({ out }: Context, id: string, url: string): void => {
  out.note(`${safe(slugFromId(id))}: size unknown; licence unknown`);
  if (URL.canParse(url)) out.note(`From ${safe(new URL(url).host)}`);
};

/** Throws if the folder that all capabilities are installed from is not usable. */
const refuseWithoutFolder = ({ source }: CapabilityList, id: string): void => {
  if (source === null || source.fault === null || id.startsWith('ollama')) return;
  const folder = source.path === null ? '' : ` ${oneLine(source.path)}`;
  throw failed(
    `Not installed: the source folder${folder} cannot be read: ${oneLine(source.fault)}.`,
    'Make the folder available. To download capabilities instead, unset ADJUTANT_CAPABILITY_SOURCE and restart the daemon.',
  );
};

/** Warns that a model does not fit. Asks on a terminal; elsewhere the installation continues. */
const confirmMisfit = async ({ ask, out, flags }: Context, message: string): Promise<void> => {
  out.warn(oneLine(message));
  if (!ask.isPossible || flags.yes) return;
  const question = { ask: 'Install it anyway?', instead: '--yes' };
  if (!(await ask.agree(question, false))) throw failed('Not confirmed. Nothing was installed.');
};

const installedColumns = buildColumns<Capability>(['id', 'kind', 'status', 'version', 'name']);

const noteInstalled = async (
  context: Context,
  { sentence, capability }: { sentence: string; capability: Capability | null },
  requestedWindow: number,
): Promise<void> => {
  context.out.done(sentence, capability ?? undefined, installedColumns);
  if (context.out.format === 'tsv') context.out.note(sentence);
  if (capability === null || Number.isNaN(requestedWindow)) return;
  const names = modelUsers(capability);
  const { models } = await (await context.client()).models.list();
  for (const { name, contextWindow } of models) {
    if (!names.includes(name) || contextWindow === requestedWindow) continue;
    context.out.note(`The context window of ${safe(name)} is ${contextWindow} tokens. Change it:`);
    context.out.note(`adjutant models update ${safe(name)} --context-window ${requestedWindow}`);
  }
};

const noteRenamed = ({ out }: Context, slug: string, name: string | null): void => {
  if (name === null || name === slug || !name.startsWith(`${slug}-`)) return;
  out.note(`A model named ${safe(slug)} already exists. The new model is named ${safe(name)}.`);
};

export const installCommand = command({
  name: 'install',
  args: '<id>',
  calls: [endpoints.install, endpoints.list],
  examples: [
    'gguf:qwen3-4b --use-case chat',
    'llama',
    'ollama:qwen3:4b --no-wait',
    'tesseract:ita',
    `gguf:house --url https://models.example.org/house.gguf --sha256 ${'0f'.repeat(32)}`,
  ],
  fields: () => requestFields(endpoints.install.body, ['id']),
  flags: { noWait },
  notes: [
    'With --use-case, the installed model is registered. Dependencies are installed first.',
    'Available: adjutant capabilities list. Models that fit: adjutant models recommend',
  ],
  run: async (context, { args, fields: typed, flags }) => {
    const list = await (await context.client()).capabilities.list({});
    const { url, useCase } = typed;
    const found = list.capabilities.find((each) => url === undefined && isNamed(each, args.id));
    if (found) announce(context, list, found);
    if (!found || found.install !== null || found.status === 'missing')
      refuseWithoutFolder(list, args.id);
    const warning = found?.install?.warning ?? null;
    if (warning !== null) await confirmMisfit(context, warning.message);
    const start = () => startInstall(context, { ...typed, id: args.id });
    let begun = await start();
    if (url !== undefined && begun.is === 'begun') announceFile(context, args.id, String(url));
    if (begun.is === 'begun' && flags.noWait) {
      await showStarted(context, begun.operation, flags);
      return;
    }
    let ended = begun.is === 'begun' ? await followInstall(context, begun.operation) : null;
    // An installation that was already running may have registered no model.
    if (ended && useCase !== undefined && useCase !== 'speech' && registeredModel(ended) === null) {
      begun = await start();
      ended = begun.is === 'begun' ? await followInstall(context, begun.operation) : ended;
    }
    if (begun.is === 'there') {
      await noteInstalled(
        context,
        begun,
        useCase === undefined ? NaN : Number(typed.contextWindow),
      );
      return;
    }
    if (ended === null) return;
    showEnd(context, ended);
    noteOutcome(context, ended);
    noteRenamed(context, slugFromId(args.id), registeredModel(ended));
  },
});
