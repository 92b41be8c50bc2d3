import { contracts, type ModelFit } from '../../src/client/index.js';
import { type Context, switchFlag } from '../command.js';
import { requestCommand } from '../request.js';
import { formatCount } from '../text.js';
import { bestOfFamilies, fitColumns } from './fit.js';
import { noteCapabilitySource } from './list.js';
import { machineLines } from './machine.js';

const { hardware } = await contracts.capabilities();

/** Describes the context window that the shown memory is calculated for. */
const formatContextNote = (
  rows: ModelFit[],
  requestedWindow: number | undefined,
  shown: string[],
): string => {
  const isCounted = shown.includes('memory');
  if (requestedWindow === undefined)
    return isCounted ? 'Memory is calculated for the context window of each model, in tokens.' : '';
  const fewer = rows.filter(({ contextWindow }) => contextWindow < requestedWindow).length;
  const text = isCounted
    ? `Memory is calculated for a context window of ${requestedWindow} tokens.`
    : `These models fit with a context window of ${requestedWindow} tokens.`;
  if (fewer === 0) return text;
  const suffix = shown.includes('context') ? ', shown with their own context window' : '';
  return `${text} Models made for fewer tokens${suffix}: ${formatCount(fewer, 'model')}.`;
};

/** Whether the model is missing from the folder that all capabilities are installed from. */
const isOutOfReach = ({ reason, installed }: ModelFit): boolean => reason !== null && !installed;

const noteSource = async (context: Context): Promise<void> => {
  const { source } = await (await context.client()).capabilities.list({});
  if (source !== null) noteCapabilitySource(context.out, source);
};

export const hardwareCommand = requestCommand({
  name: 'hardware',
  endpoint: hardware,
  except: [],
  examples: ['', '--use-case embedding', '--context-window 32768 --json'],
  flags: {
    all: switchFlag(
      'List all models, including those that do not fit and all members of each family',
    ),
  },
  notes: [
    'A terminal lists first choices, installed models, and the best model of each other family.',
    'A pipe lists all models that fit. --json also has the hardware.',
    'Speed is in tokens generated per second. "read" marks tokens read per second by ' +
      'embedding models.',
    '~ marks an estimate from the memory bandwidth. Measure it: adjutant capabilities measure',
  ],
  // The first call measures the memory bandwidth.
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
    const requestedWindow = fields.contextWindow;
    if (fields.useCase !== 'speech' && (isTable || requestedWindow !== undefined)) {
      const shown = isTable ? out.shown({ rows, columns: fitColumns }) : ['memory', 'context'];
      const text = formatContextNote(
        rows,
        requestedWindow === undefined ? undefined : Number(requestedWindow),
        shown,
      );
      if (text !== '') out.note(text);
    }
    if (out.format === 'tsv') out.note('CPU, memory and GPU: adjutant hardware --json');
    const hidden = reply.fit.length - rows.length;
    if (isTable && !flags.all && reply.fit.some(isOutOfReach)) await noteSource(context);
    if (hidden > 0 && isTable) out.note(`${formatCount(hidden, 'more model')}: --all`);
  },
});
