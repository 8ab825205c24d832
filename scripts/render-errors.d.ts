import type {FAILURE_CODES} from '../src/core/failure/failure-codes.ts';

export declare function renderErrors(codes: typeof FAILURE_CODES): string;
