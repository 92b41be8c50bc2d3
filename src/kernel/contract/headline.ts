/** Kinds whose title is only the name of a hook or agent. */
const NAMED_KINDS = ['hook_notice', 'hook_failed', 'agent_completed', 'agent_failed'];

export const formatNoticeHeadline = (notice: {
  kind: string;
  title: string;
  body: string;
}): string => {
  const { kind, title, body } = notice;
  const [first = ''] = body.trim().split('\n', 1);
  return NAMED_KINDS.includes(kind) && first !== '' ? `${title}: ${first.slice(0, 500)}` : title;
};
