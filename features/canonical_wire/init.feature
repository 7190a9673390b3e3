@0.3
Feature: The first exchange
  The host offers a contract; the extension answers with its selection and its complete catalog, or refuses and ends.

  @EXT03-INIT-001 @EXT03-INIT-002 @EXT03-INIT-003 @EXT03-INIT-004 @EXT03-INIT-005 @EXT03-INIT-006 @EXT03-INIT-007
  @EXT03-INIT-008 @EXT03-INIT-009
  Scenario: An extension answers initialize and then serves
    Given the extension has been started
    When the host sends initialize
    Then the extension answers with a result
    And the extension goes on serving
    And no frame breaks a rule of this scenario

  @EXT03-INIT-010
  Scenario Outline: Another API version
    Given the extension has been started
    And the host offers /extension = <extension>
    When the host sends initialize with /api_version = <version>
    Then the extension answers with the error version_mismatch

    Examples: the version decides before anything else does
      | version  | extension |
      | "0.4"    | {}        |
      | "0.30"   | {}        |
      | "9.9"    | null      |
      | ""       | absent    |

  @EXT03-ERR-007
  Scenario: A version mismatch says what was expected
    Given the extension has been started
    When the host sends initialize with /api_version = "9.9"
    And the extension answers with the error version_mismatch
    Then no frame breaks a rule of this scenario

  Scenario Outline: An offer that breaks the contract
    Given the extension has been started
    When the host sends initialize with <place> = <value>
    Then the extension answers with the error <error>

    @EXT03-INIT-011
    Examples: another schema
      | place            | value                     | error            |
      | /contract/schema | "octet.extension.api/0.4" | version_mismatch |

    @EXT03-INIT-012
    Examples: another encoding
      | place              | value  | error          |
      | /contract/encoding | "json" | invalid_params |

    @EXT03-INIT-013
    Examples: a broken model
      | place                                     | value  | error          |
      | /contract                                 | absent | invalid_params |
      | /octet_version                            | absent | invalid_params |
      | /contract/limits/max_tools                | absent | invalid_params |
      | /flag_values                              | absent | invalid_params |
      | /surprise                                 | 1      | invalid_params |
      | /contract/surprise                        | 1      | invalid_params |
      | /contract/limits/surprise                 | 1      | invalid_params |
      | /workspace                                | null   | invalid_params |
      | /host                                     | null   | invalid_params |
      | /contract/required_methods                | "all"  | invalid_params |
      | /contract/limits/max_tools                | "256"  | invalid_params |
      | /api_version                              | 3      | invalid_params |
      | /flag_values                              | [{}]   | invalid_params |

    @EXT03-INIT-014
    Examples: more items than a list may have
      | place                           | value                                      | error              |
      | /flag_values                    | [«list 65 {"name":"f%d","value":true}»]    | resource_exhausted |
      | /contract/optional_capabilities | [«list 33 "c%d"»]                          | resource_exhausted |
      | /contract/optional_methods      | [«list 65 "m%d"»]                          | resource_exhausted |

    @EXT03-INIT-015
    Examples: a name that is too short or too long
      | place                             | value                | error                                |
      | /contract/optional_capabilities/- | ""                   | invalid_params                       |
      | /contract/optional_methods/-      | ""                   | invalid_params                       |
      | /contract/optional_capabilities/- | "«repeat 65 c»"      | invalid_params or resource_exhausted |
      | /contract/optional_methods/-      | "«repeat 129 m»"     | invalid_params or resource_exhausted |

    @EXT03-INIT-016
    Examples: a name that may not be there
      | place                             | value           | error               |
      | /contract/optional_capabilities/- | "telepathy"     | capability_mismatch |
      | /contract/optional_methods/-      | "mind/read"     | capability_mismatch |
      | /contract/optional_capabilities/- | "dynamic_tools" | capability_mismatch |
      | /contract/optional_methods/-      | "tools/register" | capability_mismatch |
      | /contract/optional_capabilities/- | "lifecycle_events" | capability_mismatch |
      | /contract/optional_capabilities/- | "core"          | capability_mismatch |
      | /contract/required_methods/-      | "shutdown"      | capability_mismatch |

    @EXT03-INIT-017
    Examples: another required set, or a method alone
      | place                             | value                                                                    | error               |
      | /contract/required_capabilities/0 | absent                                                                   | capability_mismatch |
      | /contract/required_methods/0      | absent                                                                   | capability_mismatch |
      | /contract/required_methods        | ["$/cancelRequest","hook/run","initialize","shutdown","tool/call"]       | capability_mismatch |
      | /contract/optional_capabilities   | []                                                                       | capability_mismatch |

    @EXT03-INIT-018
    Examples: a limit of zero
      | place                                    | value | error          |
      | /contract/limits/max_frame_bytes         | 0     | invalid_params |
      | /contract/limits/max_concurrent_requests | 0     | invalid_params |
      | /contract/limits/max_tools               | 0     | invalid_params |

    @EXT03-INIT-019
    Examples: a limit above that of the API
      | place                                    | value   | error              |
      | /contract/limits/max_frame_bytes         | 1048577 | resource_exhausted |
      | /contract/limits/max_concurrent_requests | 65      | resource_exhausted |
      | /contract/limits/max_tools               | 257     | resource_exhausted |

  @EXT03-INIT-020
  Scenario Outline: A refusal is the end
    Given the extension has been started
    When the host sends initialize with <place> = <value>
    And the extension answers with an error
    Then the extension exits and has written nothing more

    Examples:
      | place            | value |
      | /api_version     | "9.9" |
      | /contract/schema | "x"   |
      | /surprise        | 1     |

  @EXT03-INIT-021 @EXT03-INIT-022
  Scenario: A second initialize is refused and is the end
    Given the extension is ready
    When the host sends initialize
    Then the extension answers with the error invalid_request
    And the extension exits and has written nothing more

  @EXT03-INIT-023
  Scenario Outline: A request before initialize
    Given the extension has been started
    When the host sends the line {"id":«id»,"jsonrpc":"2.0","method":"<method>","params":{}}
    Then the extension answers with the error unknown_method

    Examples:
      | method        |
      | shutdown      |
      | conform/probe |

  @EXT03-INIT-024
  Scenario: A request before initialize is the end
    Given the extension has been started
    When the host sends the line {"id":«id»,"jsonrpc":"2.0","method":"shutdown","params":{}}
    And the extension answers with an error
    Then the extension exits and has written nothing more

  @EXT03-INIT-026
  Scenario Outline: Services that an extension need not know
    Given the host offers /contract/optional_methods = []
    And the extension has been started
    When the host sends initialize with /contract/optional_capabilities = <value>
    Then the extension answers with a result
    And the extension goes on serving

    Examples:
      | value                            |
      | ["theme_selection"]              |
      | ["event_bus","provider_catalog"] |

  Scenario Outline: An offer that is unusual and sound
    Given the extension has been started
    When the host sends initialize with <place> = <value>
    Then the extension answers with a result
    And the extension goes on serving

    @EXT03-INIT-025
    Examples: names in another order
      | place                           | value                                                           |
      | /contract/required_methods      | ["tool/call","shutdown","initialize","$/cancelRequest"]         |
      | /contract/required_capabilities | ["tool_call","request_cancellation","core","content_parts"]     |

    @EXT03-INIT-027
    Examples: lower limits
      | place                                    | value |
      | /contract/limits/max_frame_bytes         | 65536 |
      | /contract/limits/max_concurrent_requests | 1     |

    @EXT03-INIT-028
    Examples: any value in opaque members
      | place          | value             |
      | /extension     | 7                 |
      | /capabilities  | []                |
      | /host          | {}                |
      | /host          | "headless"        |
      | /octet_version | "99.0.0-nightly"  |
      | /workspace     | ""                |
