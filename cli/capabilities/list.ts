import { type Capability, contracts, type Reply } from '../../src/client/index.js';
import { buildColumns, withDropOrder } from '../columns.js';
import { type Context, switchFlag } from '../command.js';
import { sizeText } from '../operations/counts.js';
import type { CliOutput } from '../output.js';
import { requestCommand } from '../request.js';
import { formatCount, oneLine } from '../text.js';

const endpoints = await contracts.capabilities();

const isModel = ({ kind }: Capability): boolean => kind === 'model';

const getCapabilityBytes = ({ install, bytes }: Capability): number | null =>
  install?.bytes ?? bytes;

const allColumns = buildColumns<Capability>(
  ['id:whole', 'kind'],
  ['status:state'],
  { name: 'version', value: (row) => (isModel(row) ? null : row.version) },
  {
    name: 'size',
    value: getCapabilityBytes,
    show: (row) => (getCapabilityBytes(row) ? sizeText(getCapabilityBytes(row) ?? 0) : ''),
  },
  { name: 'licence', value: ({ install, licence }) => install?.licence ?? licence },
  {
    name: 'reason',
    value: ({ reason }) => reason,
    show: ({ status, reason }) => (status === 'missing' ? '' : (reason ?? '')),
    isRare: true,
  },
  { name: 'used by', value: ({ usedBy }) => usedBy.join(','), isRare: true },
  ['name:data', 'path:data'],
  // The id of a model ends with its quantization.
  { name: 'quantization', value: (row) => (isModel(row) ? row.version : null), only: 'data' },
);

const columns = withDropOrder(['reason', 'used by', 'kind', 'version'], allColumns);

const isHere = ({ status }: Capability): boolean => !['missing', 'unsupported'].includes(status);

const isComplete = (row: Capability): boolean => isHere(row) && row.status !== 'installing';

const isHeld = ({ source }: ListReply, { id }: Capability): boolean =>
  source?.items.some((item) => item.id === id) ?? false;

const isFolded = ({ kind, path }: Capability): boolean => kind === 'language' && path === null;

/** Returns one row for all languages that were not installed here, if any is shown. */
const foldedLanguages = (shown: Capability[], all: Capability[]): Capability[] => {
  const [first] = shown;
  if (!first) return [];
  const languages = all.filter(isFolded);
  const here = languages.filter(isHere);
  const version = `${here.length} of ${languages.length}`;
  const status = here.length > 0 ? 'available' : 'missing';
  return [{ ...first, id: 'tesseract:<language>', status, version, install: null, reason: null }];
};

const firstChoices = async (context: Context): Promise<string[]> => {
  const client = await context.client();
  const { fit } = await client.capabilities.hardware({ query: {} });
  return fit.flatMap(({ model, recommendedFor }) => (recommendedFor.length > 0 ? [model] : []));
};

type ListReply = Reply<'capabilities', 'list'>;
type SourceItem = NonNullable<ListReply['source']>['items'][number];

const sourceColumns = buildColumns<SourceItem>(
  ['id:whole', 'kind', 'version'],
  { name: 'size', value: ({ bytes }) => bytes, show: ({ bytes }) => sizeText(bytes) },
  {
    name: 'installed',
    value: ({ installed }) => installed,
    show: ({ installed }) => (installed ? 'yes' : 'no'),
  },
  ['licence', 'name:data', 'slug:data'],
);

const showSource = ({ out }: Context, reply: ListReply): void => {
  const { source } = reply;
  out.page({ reply, rows: source?.items ?? [], columns: sourceColumns });
  if (source === null) out.note(`${NO_SOURCE} Capabilities are downloaded from the network.`);
  else noteCapabilitySource(out, source);
  if (source?.items.length === 0 && source.fault === null) {
    out.note(
      'The folder is empty. To fill the folder on another machine: adjutant capabilities export <id> --to <folder>',
    );
  }
};

const NO_SOURCE = 'No source folder is set (ADJUTANT_CAPABILITY_SOURCE).';

export const noteCapabilitySource = (
  out: CliOutput,
  { path, fault }: NonNullable<ListReply['source']>,
): void => {
  const folder = oneLine(path ?? 'a folder of this machine');
  if (fault === null) out.note(`All capabilities are installed from ${folder}.`);
  else out.warn(`Capabilities cannot be installed: ${folder} cannot be used: ${oneLine(fault)}`);
};

const showShort = async (context: Context, reply: ListReply, rows: Capability[]): Promise<void> => {
  const { out } = context;
  const first = rows.every(isComplete) ? [] : await firstChoices(context);
  const languages = rows.filter(isFolded);
  const others = rows.filter((row) => !isFolded(row));
  const isChoice = ({ id, install }: Capability) => install !== null && first.includes(id);
  const kept = others.filter(
    (row) => !isModel(row) || isHere(row) || isChoice(row) || isHeld(reply, row),
  );
  const shown = [
    ...kept.filter(isHere),
    ...foldedLanguages(languages, reply.capabilities),
    ...kept.filter((row) => !isHere(row)),
  ];
  out.page({ reply, rows: shown, columns });
  const hidden = others.length - kept.length;
  if (hidden > 0) {
    out.note(`${formatCount(hidden, 'more model')} and all languages: --all, or --kind model`);
  }
};

export const listCapabilities = requestCommand({
  name: 'list',
  endpoint: endpoints.list,
  except: [],
  examples: ['', '--installed', '--source', '--all', '--kind engine', '--kind model --json'],
  flags: {
    installed: switchFlag('Show only installed capabilities'),
    source: switchFlag(
      'List the models and programs in the folder ADJUTANT_CAPABILITY_SOURCE, from which the daemon installs instead of downloading',
    ),
    all: switchFlag('Show all models of the catalogue and all languages, also on a terminal'),
  },
  show: async (context, reply, { flags, fields }) => {
    const { out } = context;
    if (flags.source) return showSource(context, reply);
    const rows = reply.capabilities.filter((each) => !flags.installed || isComplete(each));
    const isShort = out.format === 'table' && !flags.all && fields.kind === undefined;
    if (isShort) await showShort(context, reply, rows);
    else out.page({ reply, rows, columns });
    if (out.format !== 'table') return;
    if (reply.source !== null) noteCapabilitySource(out, reply.source);
    out.note(
      'Install one: adjutant capabilities install <id>. Models that fit: adjutant ' + 'hardware',
    );
  },
});
