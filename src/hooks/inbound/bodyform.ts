import { parseCharset } from '../../kernel/bodytext.js';
import type { Headers } from '../../kernel/signature.js';
import { BODY_FORMS, type BodyForm } from '../senders/recipe.js';
import type { VerifiedHook } from './candidates.js';
import type { PayloadFormat } from './payload.js';
import type { ReceivingHook } from './receivinghooks.js';

const FORMS: [BodyForm, RegExp][] = [
  ['json', /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i],
  ['form', /^application\/x-www-form-urlencoded\s*(?:;|$)/i],
  ['text', /^(?:text\/(?:plain|xml)|application\/(?:[\w.+-]+\+)?xml)\s*(?:;|$)/i],
];

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
  text: 'text/plain or XML',
};

export const typeRefusal = ({ id, name, sender }: ReceivingHook, headers: Headers): string => {
  const forms = sender ? (sender.recipe.bodies ?? BODY_FORMS) : (['json'] as const);
  const types = forms.map((form) => MEDIA_TYPES[form]).join(', ');
  const takes = `This hook accepts ${types}`;
  const isGithub = headers['x-github-event'] !== undefined;
  const there = isGithub ? 'GitHub' : 'the sender';
  const command = `adjutant hooks update ${NAME.test(name) ? name : id}`;
  const form = FORMS.find(([, pattern]) => pattern.test(headers['content-type'] ?? ''))?.[0];
  if (sender || !form) return `${takes}. Set that content type at ${there}`;
  const verify = isGithub ? 'github' : '<sender>';
  return `${takes}. Set that content type at ${there}, or run: ${command} --verify ${verify}`;
};

export const parseContentEncoding = (headers: Headers): string | null => {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (encoding === '' || encoding === 'identity') return null;
  return encoding.replace(/[^\w., -]/g, '').slice(0, MAX_ENCODING);
};

const MAX_ENCODING = 40;

const detectBodyForm = (type: string | undefined, verified: VerifiedHook[]): BodyForm | null => {
  if (type === undefined) return 'json';
  if (verified.some(({ hook }) => hook.sender?.recipe.isAlwaysJson)) return 'json';
  return FORMS.find(([, pattern]) => pattern.test(type))?.[0] ?? null;
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
