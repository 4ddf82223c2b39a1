import root from '../../../package.json' with { type: 'json' };

/** The product's version, from the root package. */
export const VERSION: string = root.version;
