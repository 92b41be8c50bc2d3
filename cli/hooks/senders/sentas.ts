import {
  type Hook,
  loadSenders,
  type PresetName,
  type SignatureRecipe,
} from '../../../src/client/index.js';
import type { HookSender } from './form.js';

const { PRESETS, recipeOf } = await loadSenders();

/** The signature of a delivery, and its receiver. */
export interface SentAs {
  recipe: SignatureRecipe;
  /** The preset, for a person. */
  name: string;
  /** True if the hook expects another sender. */
  isOther: boolean;
  isIncoming: boolean;
}

interface SentAsGiven {
  hook: Hook;
  secret: string;
  /** The preset that was asked for. */
  named?: PresetName;
  /** The sender of the sample. */
  sample?: HookSender;
  /** The secret goes to the other receiver, in a header. */
  incoming?: boolean;
}

/** The way that was asked for; else the hook's own; else one that the receiver knows by itself. */
export const sentAs = ({ hook, secret, named, sample, incoming = false }: SentAsGiven): SentAs => {
  const { verify } = hook.triggerConfig;
  const own = named ?? verify;
  const recipe = own === undefined ? unnamedRecipe(sample, secret) : recipeOf(own);
  const isIncoming = incoming || (verify === undefined && isToken(recipe));
  const shown = incoming && !isToken(recipe) ? { ...recipe, ...SECRET_HEADER } : recipe;
  const isOther = named !== undefined && named !== verify;
  return { recipe: shown, name: named ?? 'github', isOther, isIncoming };
};

/** True if the secret itself is sent. */
export const isToken = ({ algorithm }: SignatureRecipe): boolean =>
  algorithm === 'token' || algorithm === 'basic';

const SECRET_HEADER = {
  header: 'x-webhook-secret',
  algorithm: 'token',
  prefix: '',
  format: 'plain',
  signed: undefined,
  timestampHeader: undefined,
} as const;

const SIGNING_TOKEN = 'whsec_';

/**
 * Returns the signature of a sample for a hook without `verify`, whose receiver knows GitHub's,
 * Stripe's and the standard's by themselves. GitLab shows its secret, unless that is a signing token.
 */
const unnamedRecipe = (sample: HookSender = 'github', secret: string): SignatureRecipe => {
  if (sample === 'stripe') return PRESETS.stripe;
  const own = sample === 'other' ? PRESETS.github : recipeOf(sample);
  const isStandard = sample === 'gitlab' && secret.startsWith(SIGNING_TOKEN);
  if (sample === 'gitlab' && !isStandard) return own;
  if (isStandard) return { ...PRESETS['standard-webhooks'], eventFrom: own.eventFrom };
  return { ...PRESETS.github, idFrom: own.idFrom, eventFrom: own.eventFrom };
};
