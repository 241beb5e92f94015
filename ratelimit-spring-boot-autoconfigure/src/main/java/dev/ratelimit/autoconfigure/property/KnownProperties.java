package dev.ratelimit.autoconfigure.property;

import java.lang.reflect.Parameter;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.bind.Name;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;

/** The properties under {@code ratelimit}, as they are documented. */
final class KnownProperties {

    static final ConfigurationPropertyName ROOT = ConfigurationPropertyName.of("ratelimit");

    private KnownProperties() {}

    /**
     * The first part of a name that no property has.
     *
     * @param parent the name before it
     * @param names the parts that could stand in its place, sorted; none if the parent is a single value
     */
    record Unknown(String parent, String part, List<String> names) {}

    /** Finds the part of a name that does not exist; {@code null} if all do. */
    static @Nullable Unknown unknownPart(ConfigurationPropertyName name) {
        Type type = RateLimitProperties.class;
        for (int i = 1; i < name.getNumberOfElements(); i++) {
            Type next = typeIn(type, name.getElement(i, Form.UNIFORM));
            if (next == null) {
                return new Unknown(
                        name.chop(i).toString(),
                        name.getElement(i, Form.ORIGINAL),
                        components(type).keySet().stream().sorted().toList());
            }
            type = next;
        }
        return null;
    }

    /** The list above a name that goes on without an index; {@code null} if there is none. */
    static @Nullable ConfigurationPropertyName listAbove(ConfigurationPropertyName name) {
        for (int i = 1; i < name.getNumberOfElements(); i++) {
            if (!name.isNumericIndex(i)
                    && typeOf(name.chop(i)) instanceof ParameterizedType list
                    && list.getRawType() != Map.class) {
                return name.chop(i);
            }
        }
        return null;
    }

    /** The parts that can follow a name, sorted; none if it is a single value, or if any name can follow. */
    static List<String> partsBelow(ConfigurationPropertyName name) {
        Type type = typeOf(name);
        return type == null
                ? List.of()
                : components(type).keySet().stream().sorted().toList();
    }

    /** Whether names that the user chooses follow. */
    static boolean isMap(ConfigurationPropertyName name) {
        return typeOf(name) instanceof ParameterizedType collection && collection.getRawType() == Map.class;
    }

    private static @Nullable Type typeOf(ConfigurationPropertyName name) {
        Type type = RateLimitProperties.class;
        for (int i = 1; i < name.getNumberOfElements() && type != null; i++) {
            type = typeIn(type, name.getElement(i, Form.UNIFORM));
        }
        return type;
    }

    /** The type of a part: a component of a record, or an entry under any name of a map, or of a list. */
    private static @Nullable Type typeIn(Type type, String uniform) {
        if (type instanceof ParameterizedType collection) {
            Type[] arguments = collection.getActualTypeArguments();
            return arguments[arguments.length - 1];
        }
        for (Map.Entry<String, Type> component : components(type).entrySet()) {
            if (component.getKey().replace("-", "").equals(uniform)) {
                return component.getValue();
            }
        }
        return null;
    }

    private static Map<String, Type> components(Type type) {
        Map<String, Type> components = new LinkedHashMap<>();
        if (type instanceof Class<?> spec && spec.isRecord()) {
            RecordComponent[] all = spec.getRecordComponents();
            List<String> names = names(spec);
            for (int i = 0; i < all.length; i++) {
                components.put(names.get(i), all[i].getGenericType());
            }
        }
        return components;
    }

    private static List<String> names(Class<?> spec) {
        List<String> names = new ArrayList<>();
        for (Parameter parameter : spec.getDeclaredConstructors()[0].getParameters()) {
            Name name = parameter.getAnnotation(Name.class);
            names.add(name != null ? name.value() : DataObjectPropertyName.toDashedForm(parameter.getName()));
        }
        return names;
    }
}
