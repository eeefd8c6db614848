/* Reads a TOML file leaf by leaf, with toml++; no exception leaves this file. */
#include "server/toml_read.h"
#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <toml++/toml.h>

namespace
{

struct walk {
    bool (*leaf)(void *context, const struct toml_leaf *l);
    void *context;
    struct toml_leaf at;
};

const char *kind_name(const toml::node &n)
{
    switch (n.type()) {
    case toml::node_type::table:
        return "a table";
    case toml::node_type::array:
        return "an array";
    case toml::node_type::string:
        return "a text";
    case toml::node_type::integer:
        return "a whole number";
    case toml::node_type::floating_point:
        return "a number with a fraction";
    case toml::node_type::boolean:
        return "true or false";
    default:
        return "a date or time";
    }
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

bool has_control(const std::string &text) { return std::any_of(text.begin(), text.end(), is_control); }

void fill_array(struct toml_leaf &l, const toml::array &a)
{
    l.kind = TOML_OTHER;
    l.text_count = l.whole_count = 0;
    if (a.is_array_of_tables()) l.kind_name = "an array of tables";
    if (a.size() > TOML_TEXTS_MOST) {
        l.kind_name = "an array of more than 256 values";
        return;
    }
    for (const toml::node &n : a) {
        if (n.is_string() && has_control(n.as_string()->get())) {
            l.kind_name = "an array with a control character in a text";
            return;
        }
        if (n.is_string())
            l.texts[l.text_count++] = n.as_string()->get().c_str();
        else if (n.is_integer())
            l.wholes[l.whole_count++] = n.as_integer()->get();
    }
    if (l.text_count == a.size())
        l.kind = TOML_TEXTS;
    else if (l.whole_count == a.size())
        l.kind = TOML_WHOLES;
}

bool visit(walk &w, const toml::node &n, unsigned line)
{
    struct toml_leaf &l = w.at;
    l.line = line;
    l.kind_name = kind_name(n);
    l.kind = TOML_OTHER;
    if (n.is_table()) {
        l.kind = TOML_TABLE;
    } else if (n.is_string() && has_control(n.as_string()->get())) {
        l.kind_name = "a text with a control character";
    } else if (n.is_string()) {
        l.kind = TOML_TEXT;
        l.text = n.as_string()->get().c_str();
    } else if (n.is_integer()) {
        l.kind = TOML_WHOLE;
        l.whole = n.as_integer()->get();
    } else if (n.is_boolean()) {
        l.kind = TOML_TRUTH;
        l.truth = n.as_boolean()->get();
    } else if (n.is_array()) {
        fill_array(l, *n.as_array());
    }
    return w.leaf(w.context, &l);
}

bool walk_table(walk &w, const toml::table &table)
{
    for (auto &&[key, node] : table) {
        const unsigned line = static_cast<unsigned>(node.source().begin.line);
        std::string name(key.str());
        std::replace_if(name.begin(), name.end(), is_control, '?');
        w.at.path[w.at.depth++] = name.c_str();
        /* A table that is empty or too deep is shown as a leaf, so that no unknown name passes unseen. */
        const toml::table *inner = node.as_table();
        const bool descend = inner && !inner->empty() && w.at.depth < TOML_DEPTH_MOST;
        const bool go_on = descend ? walk_table(w, *inner) : visit(w, node, line);
        w.at.depth--;
        if (!go_on) return false;
    }
    return true;
}

} // namespace

extern "C" bool toml_read(const char *text, size_t bytes,
                          bool (*leaf)(void *context, const struct toml_leaf *l), void *context, char *error,
                          size_t error_bytes, unsigned *line)
{
    *line = 0;
    try {
        const toml::table root = toml::parse(std::string_view(text, bytes));
        walk w = {};
        w.leaf = leaf;
        w.context = context;
        walk_table(w, root);
        return true;
    } catch (const toml::parse_error &e) {
        *line = static_cast<unsigned>(e.source().begin.line);
        std::snprintf(error, error_bytes, "%.*s", static_cast<int>(e.description().size()),
                      e.description().data());
    } catch (const std::exception &e) {
        std::snprintf(error, error_bytes, "%s", e.what());
    }
    return false;
}
