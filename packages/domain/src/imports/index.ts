export { readImport, type ImportGiven, type ImportPlan } from './read.ts';
export { IMPORT_FORMATS, ImportError, short, type BundleFile, type ImportFormat } from './parts.ts';
