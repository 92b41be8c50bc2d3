import type { SenderVerification } from './contract.js';
import { PRESETS } from './presets.js';
import type { SignatureRecipe } from './recipe.js';

/** The signature of a hook's sender. */
export interface Sender {
  /** Equal for hooks whose requests are verified, and named, in the same way. */
  name: string;
  recipe: SignatureRecipe;
}

/** Returns the sender that a hook's `verify` means. It was checked when the hook was saved. */
export const senderOf = (verify: SenderVerification): Sender => {
  if (typeof verify === 'string') return { name: verify, recipe: PRESETS[verify] };
  return { name: JSON.stringify(verify), recipe: recipeOf(verify) };
};

/** Returns the recipe of a `verify`, with what it leaves out filled in. */
export const recipeOf = (verify: SenderVerification): SignatureRecipe => {
  if (typeof verify === 'string') return PRESETS[verify];
  const { preset, header, timestampHeader, idFrom, eventFrom, ...rest } = verify;
  if (preset !== undefined) return { ...PRESETS[preset], ...rest };
  const { algorithm = 'sha256', signed = '{body}' } = verify;
  const isSigned = algorithm !== 'token' && algorithm !== 'basic';
  const recipe: SignatureRecipe = {
    ...rest,
    algorithm,
    header: (header ?? 'authorization').toLowerCase(),
    ...(isSigned && { signed }),
    ...(timestampHeader && { timestampHeader: timestampHeader.toLowerCase() }),
    ...(idFrom && { idFrom: placeOf(idFrom) }),
    ...(eventFrom && { eventFrom: placeOf(eventFrom) }),
  };
  return isJsonNeeded(recipe) ? { bodies: ['json'], ...recipe } : recipe;
};

/**
 * True if only a body of JSON is read without doubt: its id or time stands within it, or nothing
 * separates it from a time or an id that is signed with it.
 */
export const isJsonNeeded = ({
  idFrom,
  timestampFrom,
  signed = '',
}: Pick<SignatureRecipe, 'idFrom' | 'timestampFrom' | 'signed'>): boolean =>
  idFrom?.startsWith('body.') === true ||
  timestampFrom !== undefined ||
  /\{(?:timestamp|id)\}\{body\}|\{body\}\{(?:timestamp|id)\}/.test(signed);

/** Returns a place with its header's name in lower case. */
const placeOf = (place: string): string =>
  place.startsWith('headers.') ? place.toLowerCase() : place;
