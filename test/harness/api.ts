import { loadResources } from '../../src/api.js';

/** Every resource of the API with its contract, in the order of the API document. */
export const resources = await loadResources();

export const endpoints = resources.flatMap(({ contract }) => Object.values(contract));
