import { contracts, type ModelFit } from '../../src/client/index.js';
import { type Context, on } from '../command.js';
import { requestCommand } from '../request.js';
import { countOf } from '../text.js';
import { bestOfFamilies, fitColumns } from './fit.js';
import { tellSource } from './list.js';
import { machineLines } from './machine.js';

const { hardware } = await contracts.capabilities();

/** Returns sentences on the context window with which the memory is counted, as far as it is shown. */
const windowText = (rows: ModelFit[], asked: number | undefined, shown: string[]): string => {
  const isCounted = shown.includes('memory');
  if (asked === undefined)
    return isCounted ? 'The memory is that of the context of each model, in tokens.' : '';
  const fewer = rows.filter(({ contextWindow }) => contextWindow < asked).length;
  const text = isCounted
    ? `The memory is that of a context of ${asked} tokens.`
    : `They fit with a context of ${asked} tokens.`;
  if (fewer === 0) return text;
  const told = shown.includes('context') ? ', and shown with what they have' : '';
  return `${text} Made for fewer${told}: ${countOf(fewer, 'model')}.`;
};

/** Returns true for a model that is not in the folder which everything is installed from. */
const isOutOfReach = ({ reason, installed }: ModelFit): boolean => reason !== null && !installed;

/** Says from which folder everything is installed, and what is wrong with it. */
const tellFolder = async (context: Context): Promise<void> => {
  const { source } = await (await context.client()).capabilities.list({});
  if (source !== null) tellSource(context.out, source);
};

export const hardwareCommand = requestCommand({
  name: 'hardware',
  endpoint: hardware,
  except: [],
  examples: ['', '--use-case embedding', '--context-window 32768 --json'],
  flags: { all: on('All models, also those that do not fit') },
  notes: [
    'On a terminal it lists the first choices, what is installed, and the best one of each other family.',
    'A pipe gets all models that fit. The machine itself is in --json.',
    'A speed counts the tokens that are written in replies, or with "read" those that are read for vectors.',
    '~ before a speed: estimated from the bandwidth of memory. Measure: adjutant capabilities measure',
  ],
  // The memory is measured at the first call.
  patienceMs: 60_000,
  show: async (context, reply, { flags, fields }) => {
    const { out } = context;
    const isTable = out.format === 'table';
    if (isTable) for (const line of machineLines(reply)) out.sentence(line, 8);
    const isWanted = (row: ModelFit): boolean =>
      flags.all === true || (!(isTable && isOutOfReach(row)) && row.runsOn !== 'none');
    const fitting = reply.fit.filter(isWanted);
    const rank = (row: ModelFit) => (row.recommendedFor.length > 0 ? 0 : row.installed ? 1 : 2);
    const chosen = isTable && flags.all !== true ? bestOfFamilies(fitting) : fitting;
    const rows = chosen.toSorted((one, other) => rank(one) - rank(other));
    if (isTable) out.line('');
    out.page({ reply, rows, columns: fitColumns });
    const asked = fields.contextWindow;
    if (fields.useCase !== 'speech' && (isTable || asked !== undefined)) {
      const shown = isTable ? out.shown({ rows, columns: fitColumns }) : ['memory', 'context'];
      const text = windowText(rows, asked === undefined ? undefined : Number(asked), shown);
      if (text !== '') out.note(text);
    }
    if (out.format === 'tsv') out.note('CPU, memory and GPU: adjutant hardware --json');
    const hidden = reply.fit.length - rows.length;
    if (isTable && !flags.all && reply.fit.some(isOutOfReach)) await tellFolder(context);
    if (hidden > 0 && isTable) out.note(`${countOf(hidden, 'more model')}: --all`);
  },
});
