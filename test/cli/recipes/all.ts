import { account } from './account.js';
import { agents } from './agents.js';
import { daemon } from './daemon.js';
import { hooks } from './hooks.js';
import type { Recipes } from './recipe.js';
import { things } from './things.js';

/** How every command is tried, by its words. */
export const recipes: Recipes = { ...account, ...agents, ...daemon, ...hooks, ...things };
