import { SHORT_DIGEST_LENGTH } from '../approvals/module.js';
import { toTheMinute } from '../kernel/clock.js';
import type { StageQuestion } from '../pipelines/module.js';
import type { ChannelMessage } from '../providers/chat/platform.js';
import { escapeHidden, formatCall, formatVisible } from './calltext.js';

const STAGE = /^(?:\/api)?\/pipelines\/(\w+)#([\w-]+)$/;

export const stageOfLink = (link: string): { runId: string; key: string } | null => {
  const [, runId, key] = STAGE.exec(link) ?? [];
  return runId === undefined || key === undefined ? null : { runId, key };
};

/** A call is shown completely. `isRead` is false if the channel receives no replies. */
export const buildStageMessage = (
  stage: StageQuestion,
  isRead: boolean,
): Pick<ChannelMessage, 'text' | 'question'> => {
  const { runId, asks, digest } = stage;
  const isInput = asks === 'input';
  const text = [
    ...(stage.org === null ? [] : [`For the organization ${stage.org}`]),
    ...subjectLines(stage),
    ...(isInput ? stage.fields.map(fieldLine) : []),
    stage.untrusted
      ? 'UNTRUSTED: contains external content'
      : 'Trusted: contains no external content',
    `Digest ${digest.slice(0, SHORT_DIGEST_LENGTH)}. ${expiryText(stage)}`,
    ...(isInput ? inputHints(stage, isRead) : approvalHints(stage, isRead)),
  ].join('\n');
  return isInput ? { text } : { text, question: { approvalId: runId, digest } };
};

/** Each line of a message is marked, so that none looks like the daemon's. */
const subjectLines = ({ input }: StageQuestion): string[] => {
  const { message, toolId, toolAction, details } = input;
  if (typeof message !== 'string')
    return formatCall(
      `${toolId}.${toolAction}`,
      Object(input.arguments),
      Array.isArray(details) ? details : [],
    );
  return message.split(/\r\n?|\n/).map((line) => `> ${escapeHidden(line)}`);
};

const fieldLine = ({
  key,
  label = key,
  type,
  options,
  required,
}: StageQuestion['fields'][number]) => {
  const kinds = [options ? options.map(formatVisible).join(' or ') : type];
  return `  ${key}: ${formatVisible(label)} (${[...kinds, ...(required ? ['required'] : [])].join(', ')})`;
};

const expiryText = ({ asks, expiresAt }: StageQuestion): string => {
  const end = expiresAt === null ? '' : `it is denied at ${toTheMinute(expiresAt)}`;
  const prefix = asks === 'approval' ? 'The stage has not run. Without' : 'Without';
  return `${prefix} a reply ${end}.`;
};

const approvalHints = ({ runId, key, digest }: StageQuestion, isRead: boolean): string[] => {
  const short = digest.slice(0, SHORT_DIGEST_LENGTH);
  if (isRead) return [`Or reply: approve ${short}    deny ${short} <reason>`];
  return ['approve', 'reject'].map((verb) => `adjutant pipelines ${verb} ${runId} ${key}`);
};

const inputHints = ({ runId, key, digest, fields }: StageQuestion, isRead: boolean): string[] => {
  if (!isRead) return [`Answer: adjutant pipelines input ${runId} ${key} <field>=<value>`];
  const reply = `Reply: answer ${digest.slice(0, SHORT_DIGEST_LENGTH)}`;
  if (fields.length === 1) return [`${reply} <${fields[0]?.key}>`];
  return [`${reply}, then one line per field:`, ...fields.map((field) => `${field.key}: <value>`)];
};
