/**
 * The type that a JSON Schema written `as const` accepts: objects with required and optional properties,
 * arrays, tuples, enums, constants, nullable types, `anyOf` and `oneOf`. Anything else is `unknown`, never
 * `any`. Properties that a schema allows without naming them are not part of the type.
 */
export type FromJsonSchema<S> =
  IsAny<S> extends true
    ? unknown
    : S extends { readonly const: infer Constant }
      ? Constant
      : S extends { readonly enum: readonly (infer Choice)[] }
        ? Choice
        : S extends { readonly type: readonly (infer Type)[] }
          ? FromType<Type, S>
          : S extends { readonly type: infer Type }
            ? FromType<Type, S>
            : S extends { readonly anyOf: readonly (infer Part)[] }
              ? FromEach<Part>
              : S extends { readonly oneOf: readonly (infer Part)[] }
                ? FromEach<Part>
                : S extends { readonly properties: object }
                  ? FromObject<S>
                  : unknown;

type IsAny<T> = 0 extends 1 & T ? true : false;

/** One member of the union for each part. */
type FromEach<Part> = Part extends unknown ? FromJsonSchema<Part> : never;

type FromType<Type, S> = Type extends 'string'
  ? string
  : Type extends 'number' | 'integer'
    ? number
    : Type extends 'boolean'
      ? boolean
      : Type extends 'null'
        ? null
        : Type extends 'array'
          ? FromArray<S>
          : Type extends 'object'
            ? FromObject<S>
            : unknown;

type FromArray<S> = S extends { readonly prefixItems: readonly [...infer Parts] }
  ? S extends { readonly items: false }
    ? FromTuple<Parts>
    : readonly unknown[]
  : S extends { readonly items: infer Item extends object }
    ? readonly FromJsonSchema<Item>[]
    : readonly unknown[];

/** A schema without `minItems` accepts a shorter tuple. */
type FromTuple<Parts extends readonly unknown[]> = Readonly<
  Partial<{ [Index in keyof Parts]: FromJsonSchema<Parts[Index]> }>
>;

type FromObject<S> = S extends { readonly properties: infer Properties extends object }
  ? Flatten<
      { readonly [Name in keyof Properties & RequiredOf<S>]: FromJsonSchema<Properties[Name]> } & {
        readonly [Name in Exclude<keyof Properties, RequiredOf<S>>]?: FromJsonSchema<Properties[Name]>;
      } & { readonly [Name in Exclude<RequiredOf<S>, keyof Properties>]: unknown }
    >
  : S extends { readonly additionalProperties: infer Value extends object }
    ? { readonly [name: string]: FromJsonSchema<Value> }
    : { readonly [name: string]: unknown };

type RequiredOf<S> = S extends { readonly required: readonly (infer Name extends string)[] } ? Name : never;

/** Displayed as one object in an editor. */
type Flatten<T> = { [Name in keyof T]: T[Name] };
