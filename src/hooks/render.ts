import { isJsonType } from '../kernel/bodytext.js';
import { hopHeader } from '../kernel/hops.js';
import { isJsonText, isRecord } from '../kernel/jsonvalue.js';
import {
  countRunHops,
  formatRunPayload,
  getDeliveryHeaders,
  type HookRun,
  isText,
  templateScope,
} from './run.js';
import {
  renderAddress,
  renderDeep,
  renderEscaped,
  renderJson,
  renderMarkdown,
  renderTemplate,
  type TemplateScope,
  unfilledIn,
} from './template.js';

export interface Forward {
  method: string;
  url: string;
  fault?: string;
  headers: Record<string, string>;
  body: string;
  /** Names in the body template without a value. */
  unfilled?: string[];
  note?: string;
}

/**
 * The credential is added when the request is sent, so the result may be shown. `webhook-id` stays
 * the same over retries, so that the target can recognize duplicates.
 */
export const renderForward = (run: HookRun): Forward => {
  const { hook, execution } = run;
  const { webhookMethod, webhookUrl, webhookHeaders, webhookBody, credentialId } =
    hook.actionConfig;
  const scope = templateScope(run);
  const configured = Object.entries(webhookHeaders ?? {}).map(([name, value]) => [
    name.toLowerCase(),
    renderTemplate(value, scope).replace(/[^\t\x20-\x7e\x80-\xff]/g, ''),
  ]);
  const headers: Record<string, string> = {
    'content-type': webhookBody === undefined ? receivedType(run) : 'application/json',
    ...Object.fromEntries(configured),
    'webhook-id': execution.id,
    ...hopHeader(countRunHops(run)),
    ...(credentialId !== undefined && { authorization: 'Bearer [secret]' }),
    ...(scope.event ? { 'x-adjutant-event': scope.event.replace(/[^\x20-\x7e]/g, '') } : {}),
  };
  const { 'content-type': type = '' } = headers;
  const body =
    webhookBody === undefined ? receivedBody(run, type) : renderBody(webhookBody, scope, type);
  const isSent = webhookBody !== undefined && webhookMethod !== 'GET';
  const unfilled = isSent ? unfilledIn(webhookBody, scope) : [];
  const isInvalid = isSent && isJsonType(type) && !isJsonText(body);
  const address = renderAddress(webhookUrl ?? '', scope);
  return {
    method: webhookMethod ?? 'POST',
    ...('url' in address ? address : { url: webhookUrl ?? '', fault: address.fault }),
    headers,
    body,
    ...(unfilled.length > 0 && { unfilled }),
    ...(isInvalid && { note: INVALID_BODY }),
  };
};

/** Values are escaped in the way of the content type, so that they cannot add fields or elements. */
const renderBody = (template: string, scope: TemplateScope, type: string): string => {
  if (type.includes('json')) return renderJson(template, scope);
  if (FORM.test(type)) return renderEscaped(template, scope, encodeFormValue);
  if (XML.test(type)) return renderEscaped(template, scope, escapeXml);
  return renderTemplate(template, scope);
};

const receivedType = (run: HookRun): string => {
  const headers = run.delivery ? getDeliveryHeaders(run.delivery) : {};
  const [type = ''] = MEDIA_TYPE.exec(headers['content-type'] ?? '') ?? [];
  // All bodies are stored as UTF-8.
  if (isText(run)) return `${type || 'text/plain'}; charset=utf-8`;
  return isJsonType(type) || (FORM.test(type) && formText(run) !== null)
    ? type
    : 'application/json';
};

const MEDIA_TYPE = /^[\w.+-]{1,60}\/[\w.+-]{1,60}/;

const receivedBody = (run: HookRun, type: string): string =>
  (FORM.test(type) ? formText(run) : null) ?? formatRunPayload(run);

/** Null if the payload has values that no form has, such as the JSON in a form of GitHub. */
const formText = (run: HookRun): string | null => {
  const body = templateScope(run).webhook?.body;
  if (!isRecord(body)) return null;
  const fields = Object.entries(body).flatMap(([name, value]) =>
    [value].flat().map((each): [string, unknown] => [name, each]),
  );
  const texts = fields.filter((field): field is [string, string] => typeof field[1] === 'string');
  return texts.length === fields.length ? new URLSearchParams(texts).toString() : null;
};

const FORM = /^application\/x-www-form-urlencoded\b/i;
const XML = /^(?:text|application)\/(?:[\w.+-]+\+)?(?:xml|html)\b/i;

const encodeFormValue = (text: string): string =>
  new URLSearchParams([['', text]]).toString().slice(1);

const escapeXml = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');

const INVALID_BODY =
  'The body is not valid JSON with the values of this execution. Correct actionConfig.webhookBody, or set another Content-Type in actionConfig.webhookHeaders';

/** `unfilled`: names in the template without a value. */
export interface NoticeText {
  body: string;
  /** Null if the Markdown form is the same. */
  markdown: string | null;
  unfilled: string[];
}

export const renderNoticeText = (run: HookRun): NoticeText => {
  const { notifyMessage = '' } = run.hook.actionConfig;
  const scope = templateScope(run);
  const body = renderTemplate(notifyMessage, scope);
  const markdown = renderMarkdown(notifyMessage, scope);
  const unfilled = unfilledIn(notifyMessage, scope);
  return { body, markdown: markdown === body ? null : markdown, unfilled };
};

export const markdownArguments = (run: HookRun): Record<string, string> => {
  const scope = templateScope(run);
  const texts = Object.entries(run.hook.actionConfig.toolParams ?? {});
  return Object.fromEntries(
    texts.flatMap(([name, text]) =>
      typeof text === 'string' ? [[name, renderMarkdown(text, scope)]] : [],
    ),
  );
};

export const toolArguments = (run: HookRun): Record<string, unknown> => {
  const { action, actionConfig } = run.hook;
  const { toolParams = {}, params = {} } = actionConfig;
  const configured = action === 'start_pipeline' ? params : toolParams;
  const rendered = renderDeep(configured, templateScope(run));
  return Object.fromEntries(Object.entries(rendered ?? {}));
};
