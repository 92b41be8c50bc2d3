import { isJsonType, parseCharset } from '../../kernel/bodytext.js';
import type { Headers } from '../../kernel/signature.js';
import { BODY_FORMS, type BodyForm } from '../senders/recipe.js';
import type { VerifiedHook } from './candidates.js';
import type { PayloadFormat } from './payload.js';
import type { ReceivingHook } from './receivinghooks.js';

const FORM = /^application\/x-www-form-urlencoded\s*(?:;|$)/i;
const TEXT = /^(?:text\/(?:plain|xml)|application\/(?:[\w.+-]+\+)?xml)\s*(?:;|$)/i;

/** Null for an unsupported type. A body without a type is read as JSON. */
const parseBodyForm = (type = ''): BodyForm | null => {
  if (type.trim() === '' || isJsonType(type)) return 'json';
  if (FORM.test(type)) return 'form';
  return TEXT.test(type) ? 'text' : null;
};

interface FittingHooks {
  reading: PayloadFormat;
  fitting: VerifiedHook[];
}

export const fittingHooks = (
  verified: VerifiedHook[],
  type: string | undefined,
): FittingHooks | null => {
  const form = detectBodyForm(type, verified);
  const fitting = form === null ? [] : verified.filter(({ hook }) => takes(hook, form));
  if (form === null || fitting.length === 0) return null;
  const hidesState = fitting.some(({ hook }) => hook.sender?.recipe.algorithm === 'client-state');
  const reading = {
    form,
    charset: parseCharset(type),
    places: listBodyPlaces(fitting),
    hidesState,
  };
  return { fitting, reading };
};

const NAME = /^[\w.-]+$/;
const MEDIA_TYPES: Record<BodyForm, string> = {
  json: 'application/json',
  form: 'application/x-www-form-urlencoded',
  text: 'text/plain',
};
const MEDIA_TYPE = /^[\w.+-]{1,60}\/[\w.+-]{1,60}/;

export const typeRefusal = ({ id, name, sender }: ReceivingHook, headers: Headers): string => {
  const forms = sender ? (sender.recipe.bodies ?? BODY_FORMS) : (['json'] as const);
  const types = forms.map((form) => MEDIA_TYPES[form]);
  const type = headers['content-type'];
  const [sent = type?.trim() ? 'an invalid content type' : 'no content type'] =
    MEDIA_TYPE.exec(type ?? '') ?? [];
  const takes = `This hook accepts ${types.join(', ')}, but the request has ${sent}`;
  const isGithub = headers['x-github-event'] !== undefined;
  const there = isGithub ? 'GitHub' : `the sender (curl: -H 'Content-Type: ${types[0]}')`;
  const command = `adjutant hooks update ${NAME.test(name) ? name : id}`;
  if (sender || parseBodyForm(type) === null)
    return `${takes}. Set an accepted content type at ${there}`;
  const verify = isGithub ? 'github' : '<sender>';
  return `${takes}. Set an accepted content type at ${there}, or run: ${command} --verify ${verify}`;
};

export const parseContentEncoding = (headers: Headers): string | null => {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (encoding === '' || encoding === 'identity') return null;
  return encoding.replace(/[^\w., -]/g, '').slice(0, MAX_ENCODING);
};

const MAX_ENCODING = 40;

const detectBodyForm = (type: string | undefined, verified: VerifiedHook[]): BodyForm | null => {
  if (verified.some(({ hook }) => hook.sender?.recipe.isAlwaysJson)) return 'json';
  return parseBodyForm(type);
};

const takes = ({ sender }: ReceivingHook, form: BodyForm): boolean =>
  sender ? (sender.recipe.bodies?.includes(form) ?? true) : form === 'json';

const NO_PLACES: string[] = [];

const listBodyPlaces = (verified: VerifiedHook[]): string[] => {
  if (verified.every(({ hook }) => !hook.sender)) return NO_PLACES;
  const places = verified.flatMap(({ hook }) => {
    const { idFrom, eventFrom } = hook.sender?.recipe ?? {};
    return [idFrom, eventFrom];
  });
  return [...new Set(places)].flatMap((place) => (place?.startsWith('body.') ? [place] : []));
};
