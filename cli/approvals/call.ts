import type { ApprovalReply } from '../../src/client/index.js';
import { oneLine, plainText } from '../text.js';
import { ago, localTime } from '../times.js';
import { approvalCall, approvalTrustText, shortOf } from './columns.js';

/**
 * The exact call, whole: each argument under its name, each member of a list on a line of its own,
 * and every character that cannot be seen made visible. What is not shown must not be approved.
 */
export const callLines = (approval: ApprovalReply): string[] => {
  const facts = Object.entries(approval.arguments).flatMap(([name, value]) => {
    const [first = '', ...rest] = valueLines(value);
    return [`  ${oneLine(name)}  ${first}`, ...rest.map((line) => `    ${line}`)];
  });
  return [
    `${oneLine(approvalCall(approval))}    digest ${shortOf(approval)}    ${approvalTrustText(approval)}`,
    ...(facts.length > 0 ? facts : ['  without arguments']),
    `Because    ${oneLine(approval.reason)}`,
    ...(approval.agentId === null ? [] : [`Agent      ${approval.agentId}`]),
    standing(approval),
  ];
};

const valueLines = (value: unknown): string[] => {
  if (Array.isArray(value)) return ['', ...value.map((member) => oneLine(plainText(member)))];
  return plainText(value).split('\n').map(oneLine);
};

const standing = ({ status, expiresAt, decidedAt, decisionReason }: ApprovalReply): string => {
  if (status === 'pending') {
    return `Nothing has run. No answer means denied at ${localTime(expiresAt)} (${ago(expiresAt)}).`;
  }
  const reason = decisionReason === null ? '' : `: ${oneLine(decisionReason)}`;
  return `${status} ${decidedAt === null ? '' : localTime(decidedAt)}${reason}`;
};
