import type { Client, PipelineRun, PipelineRunDetail } from '../../src/client/index.js';
import { failed } from '../exit.js';
import { exposed, oneLine, safe } from '../text.js';
import { asksIn, type StageOfRun } from './tree.js';
import type { AskedValue } from './values.js';

/** The kinds of stages that begin runs of their own. */
const NESTING: readonly string[] = ['foreach', 'pipeline'];

/** Returns by what a run is found. One that a stage has begun is in no list: by its whole id alone. */
export const shortId = ({ id, parentId }: Pick<PipelineRun, 'id' | 'parentId'>): string =>
  parentId === null ? id.slice(-6) : id;

/** Returns what a run asks, and the commands that answer it. */
export const adviceOf = (run: PipelineRunDetail): string[] =>
  run.stages.flatMap((stage) => {
    const { kind, status, input, reason } = stage;
    if (NESTING.includes(kind) && status === 'running' && asksIn(reason)) {
      return [`Who waits: adjutant pipelines list --parent-id ${run.id} --status waiting`];
    }
    if (status !== 'waiting_input' && status !== 'waiting_approval') return [];
    const fields = status === 'waiting_input' ? askedFields(input) : [];
    return [...askedLines(stage), ...fields.map(fieldLine), ...answerLines(run, stage)];
  });

/**
 * Returns the lines of what a stage asks: its message, or the call that it would make. Each is marked,
 * so that none passes for one of this command.
 */
export const askedLines = ({ input, untrusted, digest }: QuestionOfStage): string[] => {
  const message: unknown = Object(input).message;
  const text = typeof message === 'string' ? message : JSON.stringify(input, null, 2);
  return [
    ...exposed(text)
      .split('\n')
      .map((line) => `> ${line}`),
    `${untrusted ? 'UNTRUSTED: what came from outside is in it. ' : ''}Digest ${digest?.slice(0, 8)}.`,
  ];
};

type QuestionOfStage = Pick<PipelineRunDetail['stages'][number], 'input' | 'untrusted' | 'digest'>;

interface AskedStage {
  id: string;
  key: string;
  /** The answer that is about to be given. */
  is: 'approval' | 'input';
}

/** Finds what a stage waits for. Failed: it waits for nothing, or for the other answer. */
export const waitingStage = async (client: Client, { id, key, is }: AskedStage) => {
  const run = await client.pipelines.get({ id });
  const stage = run.stages.find((each) => each.key === key);
  if (!stage)
    throw failed(
      `The run has no stage "${safe(key)}".`,
      `It has: ${run.stages.map((each) => each.key).join(', ')}`,
    );
  const { status, digest, input, untrusted } = stage;
  if (digest === null) throw failed(`${safe(key)} is ${status}: it waits for nothing.`);
  if (status === `waiting_${is}`) return { digest, input, untrusted };
  const what = status === 'waiting_input' ? 'values' : 'an approval';
  throw failed(`${safe(key)} waits for ${what}.`, ...answerLines(run, stage));
};

/** The fields that a stage of kind `input` asks for. */
export const askedFields = (input: unknown): AskedValue[] => Object(input).fields ?? [];

/** Returns a field as a line: `size  How long: choice of short, long, required`. */
const fieldLine = ({ key, label, type, options = [], required }: AskedValue): string => {
  const kind = options.length > 0 ? `${type} of ${options.join(', ')}` : type;
  const about = label === undefined || label === key ? kind : `${label}: ${kind}`;
  return oneLine(`  ${key}  ${about}${required ? ', required' : ''}`);
};

/** Returns the lines with the commands that answer a stage. */
const answerLines = (
  run: Pick<PipelineRun, 'id' | 'parentId'>,
  { key, status, input }: Pick<StageOfRun, 'key' | 'status' | 'input'>,
): string[] => {
  const stage = `${shortId(run)} ${key}`;
  if (status !== 'waiting_input')
    return [`Answer: adjutant pipelines approve ${stage}   or reject`];
  const command = `adjutant pipelines input ${stage}`;
  const values = askedFields(input).map((field) => `${field.key}=...`);
  return [`Answer: ${command}`, oneLine(`or: ${[command, ...values].join(' ')}`)];
};
