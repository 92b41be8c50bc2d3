import { machineLines, speedText } from '../../../cli/capabilities/machine.js';
import { sizeText } from '../../../cli/operations/counts.js';
import type { PageNeed, ScreenPage } from '../../page.js';
import { row, type ScreenRow, type Size, tonedSpan } from '../../parts/row.js';
import { column, numberColumn, stateColumn, uncutColumn } from '../../parts/table.js';
import { factRows } from '../../parts/text.js';
import { HARDWARE } from '../../state/capabilities.js';
import { type JumpTarget, operationPageTarget, rowTarget } from '../../state/locations.js';
import type { State } from '../../state/state.js';
import { topView } from '../../state/ui.js';
import { listPage } from '../list.js';
import { capabilityActs } from './acts.js';
import { capabilityFacts, capabilityHead, spokenSpeed } from './facts.js';
import { type CapabilityRow, capabilityRows, capabilityState, usingModels } from './rows.js';

/** The socket reports the end of operations. This interval is for other changes. */
const EVERY_MS = 15_000;
/** Interval in milliseconds. Free memory changes all the time. */
const MACHINE_MS = 60_000;
/** Minimum height of the page for the full description of the machine. */
const TALL = 26;

/** What uses the capability, or what it is the first choice for. */
const useText = ({ item, fit }: CapabilityRow): string => {
  const users = item.usedBy.map((each) => each.replace(/^models\//, ''));
  if (users.length > 0) return `used by ${users.join(', ')}`;
  const first = fit?.recommendedFor ?? [];
  return first.length > 0 ? `first choice for ${first.join(', ')}` : '';
};

/**
 * Languages that can be installed are hidden, because there are a hundred. The filter finds them.
 */
const isFolded = ({ item: { kind, status }, operation }: CapabilityRow): boolean =>
  kind === 'language' && status === 'missing' && operation === null;

/** The name of a language begins with its code, because a narrow column cuts the end. */
const formatCapabilityName = ({ item: { kind, apiId, name } }: CapabilityRow): string =>
  kind === 'language' ? `${apiId.replace(/^tesseract[:-]/, '')}: text recognition` : name;

/** A capability that can be installed has its version in its name. */
const formatCapabilityVersion = ({ item: { status, version } }: CapabilityRow): string =>
  status === 'missing' ? '' : (version ?? '');

const getLicence = ({ item: { install }, fit }: CapabilityRow): string =>
  install?.licence ?? fit?.licence ?? '';

/** The operation, unless it is completed, else the model that uses the capability. */
export const capabilityTarget = ({ item, operation }: CapabilityRow): JumpTarget | null => {
  const [model] = usingModels(item);
  if (operation && (operation.status !== 'completed' || model === undefined)) {
    return operationPageTarget(operation.id);
  }
  return model === undefined ? null : rowTarget('models', model);
};

export const capabilityNeeds: PageNeed[] = [
  { is: 'list', list: 'capabilities', everyMs: EVERY_MS },
  { is: 'list', list: 'hardware', everyMs: MACHINE_MS },
  { is: 'list', list: 'operations', everyMs: EVERY_MS },
  { is: 'channel', channel: 'operation.progress' },
];

export const STATUS_WORDS = [
  ['available', 'installed and working'],
  ['degraded', 'installed, but with a problem'],
  ['missing', 'not installed; can be installed if it has a licence and a source'],
  ['split', 'the model runs partly on the GPU and partly on the CPU'],
  ['tok/s', 'tokens generated per second; with “read”, tokens embedded per second'],
  ['~', 'before a speed: estimated'],
  ['±', 'after a speed: measured, but varies'],
] as const;

/** Description of the machine: in full, or its main values in a few rows. */
const machineRows = ({ lists: { hardware } }: State, isShort: boolean): ScreenRow[] => {
  const machine = hardware.byId[HARDWARE];
  if (!machine)
    return [row(tonedSpan('muted', hardware.trouble?.message ?? 'Reading the hardware…'))];
  const lines = machineLines(machine);
  if (!isShort) return lines.map((line) => row(line));
  const about = (name: string): string[] => lines.filter((line) => line.startsWith(name));
  const short = (line: string): string => line.replace(/ {2,}/, ' ');
  const [cpu = ''] = about('CPU');
  const others = [...about('Disk'), ...about('GPU')].map(short);
  const [memory = ''] = about('Memory').map((line) => line.replace(/, read at.*/, ''));
  return [
    row(cpu),
    row([memory, ...others].join('   ')),
    ...(machine.catalogue.fault === null ? [] : [row(tonedSpan('warn', machine.catalogue.fault))]),
  ];
};

const listed: ScreenPage = listPage<CapabilityRow>({
  name: 'capabilities',
  title: 'Capabilities',
  noun: 'capability',
  nouns: 'capabilities',
  list: 'capabilities',
  isWide: () => true,
  // The width of a narrow terminal, so that no column is dropped beside the details.
  leastWidth: 80,
  rows: (state) => {
    const rows = capabilityRows(state);
    return topView(state.ui).filter === '' ? rows.filter((each) => !isFolded(each)) : rows;
  },
  item: ({ item, fit }) => ({
    id: item.id,
    name: item.name,
    words: `${item.apiId} ${item.kind} ${item.status} ${fit?.useCases.join(' ') ?? ''}`,
    facts: { status: item.status, kind: item.kind, runs: fit?.runsOn ?? '' },
  }),
  columns: (state) => [
    uncutColumn(stateColumn('STATE', [9, 18, 0], (each) => capabilityState(state, each))),
    column('NAME', [18, 44, 0], formatCapabilityName),
    column('VERSION', [7, 12, 4], formatCapabilityVersion),
    numberColumn('MEMORY', [8, 10, 2], ({ fit }) => (fit ? sizeText(fit.totalBytes) : '')),
    column('RUNS ON', [7, 7, 3], ({ fit }) => fit?.runsOn ?? ''),
    {
      ...uncutColumn(
        column<CapabilityRow>('SPEED', [8, 18, 2], ({ fit }) => (fit ? speedText(fit) : '')),
      ),
      said: ({ fit }) => (fit ? spokenSpeed(fit) : ''),
    },
    column('USE', [12, 40, 1], useText),
    column('LICENCE', [18, 24, 5], getLicence),
  ],
  detail: (state, of, width) => [
    ...capabilityHead(state, of, width),
    [],
    ...factRows(capabilityFacts(of), width),
  ],
  empty: ['No capabilities found.'],
  needs: () => capabilityNeeds,
  opens: ({ item }) => ({ page: 'capability', id: item.id }),
  related: capabilityTarget,
  acts: capabilityActs,
  summary: (state, rows) => {
    const having = (...statuses: string[]) =>
      rows.filter((each) => statuses.includes(capabilityState(state, each).split(' ')[0] ?? ''))
        .length;
    const fitting = rows.filter(
      ({ item, fit }) => item.install !== null && fit !== null && fit.runsOn !== 'none',
    );
    const busy = having('installing');
    const folded = topView(state.ui).filter === '' ? capabilityRows(state).filter(isFolded) : [];
    return [
      `${having('available', 'degraded')} installed or found`,
      ...(busy > 0 ? [`${busy} installing`] : []),
      ...(state.lists.hardware.byId[HARDWARE] ? [`${fitting.length} more models fit`] : []),
      ...(folded.length > 0 ? [`${folded.length} languages: /language`] : []),
    ].join(', ');
  },
  glossary: STATUS_WORDS,
});

const below = (size: Size, above: readonly ScreenRow[]): Size => ({
  ...size,
  height: Math.max(0, size.height - above.length - 1),
});

/** The machine, installed capabilities, models that fit, and other capabilities. */
export const capabilitiesPage: ScreenPage = {
  ...listed,
  head: (state) => machineRows(state, false),
  view: (state, size) => {
    const above = machineRows(state, size.height < TALL);
    return [...above, [], ...listed.view(state, below(size, above))];
  },
  textHeight: (state, size) => {
    const room = below(size, machineRows(state, size.height < TALL));
    return listed.textHeight?.(state, room) ?? room.height;
  },
  line: () => 'adjutant capabilities list',
};
