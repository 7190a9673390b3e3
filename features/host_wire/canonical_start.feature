@0.3
Feature: A host of the canonical wire makes a contract
  The offer says what the host has, and a selection is taken as it stands or refused.

  @EXT03-INIT-030 @EXT03-INIT-040 @EXT03-INIT-041 @EXT03-CONTRACT-015 @EXT03-CONTRACT-016 @EXT03-CONTRACT-017 @EXT03-CONTRACT-028 @EXT03-CONTRACT-029 @EXT03-TOOL-016
  Scenario: What a host says at the start
    Given a sound extension
    When the host calls the tool "echo"
    Then the host sent "initialize" with
      | member                                   | value                    | rule               |
      | /params/flag_values                      | []                       | EXT03-INIT-030     |
      | /params/extension                        | an object                | EXT03-INIT-040     |
      | /params/capabilities                     | an object                | EXT03-INIT-040     |
      | /params/contributes                      | an object                | EXT03-INIT-040     |
      | /params/host                             | an object                | EXT03-INIT-040     |
      | /params/workspace                        | the working directory    | EXT03-INIT-041     |
      | /params/contract/required_capabilities   | the required capabilities | EXT03-CONTRACT-015 |
      | /params/contract/required_methods        | the required methods     | EXT03-CONTRACT-015 |
      | /params/contract/limits/max_tools        | 256                      | EXT03-CONTRACT-016 |
      | /params/contract/limits/max_frame_bytes  | from 1 to 1048576        | EXT03-CONTRACT-016 |
      | /params/contract/limits/max_concurrent_requests | from 1 to 64      | EXT03-CONTRACT-016 |
      | /params/contract/optional_methods        | open methods only        | EXT03-CONTRACT-028 |
      | /params/contract/optional_methods        | methods of this wire only| EXT03-CONTRACT-029 |
      | /params/contract/optional_methods        | methods of what is offered only | EXT03-CONTRACT-017 |
      | /params/contract/optional_capabilities   | open capabilities only   | EXT03-CONTRACT-028 |
    And the host sent "tool/call" with
      | member            | value     | rule           |
      | /params/name      | "echo"    | EXT03-TOOL-016 |
      | /params/arguments | an object | EXT03-TOOL-016 |
      | /params/context   | an object | EXT03-TOOL-016 |

  Scenario Outline: A selection that is refused
    Given an extension that <fault>
    When the host calls the tool "echo"
    Then the host gives the extension up
    And the tool was not called

    @EXT03-CONTRACT-018
    Examples:
      | fault                               |
      | selects too few capabilities        |
      | selects a capability nobody offered |
      | selects too few methods             |
      | selects a method nobody offered     |
      | selects a capability twice          |

    @EXT03-CONTRACT-022
    Examples:
      | fault                  |
      | selects another schema |

  Scenario Outline: A selection that is refused by its numbers
    Given an extension with the script
      """
      select <limit>
      on tool/call
      say «answer»
      """
    When the host calls the tool "echo"
    Then the host gives the extension up
    And the tool was not called

    @EXT03-CONTRACT-019
    Examples:
      | limit                     |
      | max_frame_bytes=1048577   |
      | max_concurrent_requests=65 |

    @EXT03-CONTRACT-022
    Examples:
      | limit             |
      | max_frame_bytes=0 |
      | max_tools=0       |

    @EXT03-INIT-035
    Examples:
      | limit       |
      | max_tools=1 |

  @EXT03-CONTRACT-024
  Scenario: Names in another order
    Given an extension with the script
      """
      select reversed
      on tool/call
      say «answer»
      """
    When the host calls the tool "echo"
    Then the host says what the tool said

  @EXT03-CONTRACT-025
  Scenario: A capability with none of its methods
    Given an extension with the script
      """
      select provider_catalog
      on tool/call
      say «answer»
      """
    When the host calls the tool "echo"
    And the host offers the feature "provider_catalog"
    Then the host says what the tool said

  @EXT03-CONTRACT-020
  Scenario Outline: Half of a pair
    Given an extension with the script
      """
      contribute {"hooks":["session_start","session_end"]}
      select <half>
      on tool/call
      say «answer»
      """
    When the host calls the tool "echo"
    And the host offers the feature "lifecycle_events"
    Then the host gives the extension up
    And the tool was not called

    Examples:
      | half             |
      | lifecycle_events |

  @EXT03-CONTRACT-021
  Scenario: Session hooks that the manifest does not have
    Given an extension with the script
      """
      select lifecycle_events hook/run
      on tool/call
      say «answer»
      """
    When the host calls the tool "echo"
    And the host offers the feature "lifecycle_events"
    Then the host gives the extension up
    And the tool was not called

  @EXT03-INIT-039
  Scenario: A refusal of the version
    Given an extension with the script
      """
      on initialize
      say {"error":{"code":-32010,"data":{"expected":"0.2","received":"0.3"},"message":"extension API version mismatch"},"id":«id initialize»,"jsonrpc":"2.0"}
      exit 3
      """
    When the host calls the tool "echo"
    Then the host gives the extension up
    And the extension was started once, with its environment

  @EXT03-PROC-012 @EXT03-PROC-013
  Scenario: Where and how an extension is started
    Given an extension with the script
      """
      on tool/call
      say «answer»
      """
    When the host calls the tool "echo"
    Then the host says what the tool said
    And the extension was started once, with its environment
    And the extension has the arguments of its manifest
