import * as s from '../../kernel/contract/schema.js';

/** As in the table of platforms, which loads the parsers of Markdown. */
export const REPLY_PRESETS = [
  ...(['github', 'gitlab', 'gitea', 'jira', 'linear', 'slack', 'url'] as const),
] as const;
export type ReplyPreset = (typeof REPLY_PRESETS)[number];

const preset = () => s.oneOf('ReplyPreset', ...REPLY_PRESETS);
const TEMPLATED_URL = /^https?:\/\/[^/?#\s{}\\]+(?:[/?#](?:\{\{[^{}]{1,300}\}\}|[^\s{}])*)?$/i;

export const templatedUrl = () =>
  s.url(2000).pattern(TEMPLATED_URL, 'an http or https URL with placeholders only after the host');

export const ReplySettings = s.object('ReplySettings', {
  preset: preset().description(
    'Platform to reply on. The reply goes to the issue, pull request, commit, ticket or thread of the delivery. `url` posts JSON to a URL of your own',
  ),
  credentialId: s.optional(
    s
      .text(80)
      .description(
        'ID of the vault credential with the token. Optional for `url`. For Jira Cloud, the value has the form `<e-mail address>:<token>`',
      ),
  ),
  mode: s.optional(
    s
      .oneOf('ReplyMode', 'create', 'update')
      .description(
        'Whether each result is a new comment (`create`, the default), or replaces the comment of the previous result for the same object (`update`)',
      ),
  ),
  url: s.optional(
    templatedUrl()
      .example('https://git.example.org')
      .description(
        'Address of your own server, such as `https://git.example.org`. Required for `gitea`, `jira` and `url`. For `url`, placeholders such as `{{webhook.body.id}}` are allowed in the path and query',
      ),
  ),
});
export type ReplySettings = s.Static<typeof ReplySettings>;

const status = () =>
  s
    .oneOf('ReplyStatus', 'queued', 'sending', 'sent', 'failed', 'unknown')
    .description(
      'Status of the reply. `unknown`: the response was lost, so the reply may have been posted',
    );

export const replyStatus = status;

export const HookReply = s.object('HookReply', {
  id: s.id('sending'),
  hookId: s.id('hook'),
  executionId: s.id('execution'),
  status: status(),
  preset: preset(),
  object: s
    .nullable(s.anyText(2000))
    .description(
      'Object that the reply goes to, such as `octo/hello#7`. `null` if the delivery has no such object',
    ),
  url: s
    .nullable(s.anyText(2000))
    .description('URL of the posted reply. `null` if the platform returned no URL'),
  attempts: s.integer(0, Number.MAX_SAFE_INTEGER).description('Number of attempts'),
  nextAttemptAt: s
    .nullable(s.time())
    .description('Time of the next attempt. `null` if there is none'),
  error: s.nullable(s.anyText(10_000)).description('Error message. `null` without an error'),
  createdAt: s.time(),
  finishedAt: s.nullable(s.time()).description('End time. `null` if not ended yet'),
});
export type HookReply = s.Static<typeof HookReply>;
