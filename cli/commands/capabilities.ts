import { type Capability, contracts, type ModelFit } from '../../src/client/index.js';
import { exportCommand } from '../capabilities/export.js';
import { fitColumns } from '../capabilities/fit.js';
import { installCommand } from '../capabilities/install.js';
import { machineLines } from '../capabilities/machine.js';
import { columnsOf } from '../columns.js';
import { type CommandGroup, command, on } from '../command.js';
import { sizeText } from '../operations/bar.js';
import { noWait, showBegun } from '../operations/follow.js';
import { requestCommand } from '../request.js';
import { safe } from '../text.js';

const endpoints = await contracts.capabilities();

const columns = columnsOf<Capability>(
  ['id:whole', 'kind'],
  ['status:state', 'version'],
  {
    name: 'size',
    value: ({ install }) => install?.bytes,
    show: ({ install }) => (install?.bytes ? sizeText(install.bytes) : ''),
  },
  { name: 'licence', value: ({ install }) => install?.licence },
  {
    name: 'reason',
    value: ({ reason }) => reason,
    show: ({ status, reason }) => (status === 'missing' ? '' : (reason ?? '')),
    isRare: true,
  },
  { name: 'used by', value: ({ usedBy }) => usedBy.join(','), isRare: true },
  ['name:data', 'path:data'],
);

const list = requestCommand({
  name: 'list',
  endpoint: endpoints.list,
  except: [],
  examples: ['', '--installed', '--kind engine', '--kind model --json'],
  flags: { installed: on('Only what is here already') },
  show: ({ out }, reply, { flags }) => {
    const isHere = ({ status }: Capability) => !['missing', 'unsupported'].includes(status);
    const rows = reply.capabilities.filter((each) => !flags.installed || isHere(each));
    out.page({ reply, rows, columns });
    if (out.format !== 'table') return;
    out.note('Install one: adjutant capabilities install <id>. What fits: adjutant hardware');
  },
});

const measure = command({
  name: 'measure',
  args: '<model>',
  calls: [endpoints.measure],
  examples: ['qwen3-4b-q4_k_m', 'qwen --no-wait', 'qwen --json'],
  flags: { noWait },
  notes: ['The median of five short replies. It is shown by adjutant hardware from then on.'],
  run: async (context, { args, flags }) => {
    const client = await context.client();
    const begun = await client.capabilities.measure({ body: { model: args.model } });
    await showBegun(context, begun, flags);
  },
});

const verify = command({
  name: 'verify',
  args: '<slug>',
  calls: [endpoints.verify],
  examples: ['qwen3-4b-q4_k_m', 'llama --no-wait', 'llama --json'],
  flags: { noWait },
  notes: ['Exit 1 where a file is damaged.'],
  run: async (context, { args, flags }) => {
    const begun = await (await context.client()).capabilities.verify({ slug: args.slug });
    await showBegun(context, begun, flags);
  },
});

const remove = command({
  name: 'delete',
  args: '<slug>',
  calls: [endpoints.delete],
  examples: ['qwen3-4b-q4_k_m', 'tesseract-ita --yes', 'llama --force --yes'],
  flags: { force: on('Though models use it') },
  run: async (context, { args, flags: { force } }) => {
    await context.ask.confirm(`Remove ${safe(args.slug)} with its files?`);
    const query = force ? { force: true } : {};
    await (await context.client()).capabilities.delete({ slug: args.slug, query });
    context.out.note(`Removed: ${safe(args.slug)}`);
  },
});

export const capabilitiesGroup: CommandGroup = {
  commands: [list, installCommand, verify, measure, remove, exportCommand],
  notes: ['What this machine is, and which models fit it: adjutant hardware'],
};

export const hardwareCommand = requestCommand({
  name: 'hardware',
  endpoint: endpoints.hardware,
  except: [],
  examples: ['', '--use-case embedding', '--context-window 32768 --json'],
  flags: { all: on('Also the models that do not fit') },
  notes: [
    '~ before a speed: estimated from the bandwidth of memory. Measure: adjutant capabilities measure',
  ],
  // The memory is measured at the first call.
  patienceMs: 60_000,
  show: ({ out }, reply, { flags }) => {
    if (out.format === 'table') for (const line of machineLines(reply)) out.line(line);
    const fitting = reply.fit.filter(({ runsOn }) => flags.all || runsOn !== 'none');
    const rank = (row: ModelFit) => (row.recommendedFor.length > 0 ? 0 : row.installed ? 1 : 2);
    const rows = fitting.toSorted((one, other) => rank(one) - rank(other));
    if (out.format === 'table') out.line('');
    out.page({ reply, rows, columns: fitColumns });
    const hidden = reply.fit.length - rows.length;
    if (hidden > 0 && out.format === 'table') out.note(`${hidden} more do not fit: --all`);
  },
});
